// @ts-check
// The upload page: drop files, see each one's progress, then each record's verdict as it comes.

import { find, make, setText } from "../dom.js";
import { watchSubmission } from "../submission.js";

/** @typedef {{id: string, url: string, status_url: string, used: number, limit: number}} Accepted */
/** @typedef {{detail?: string, code?: string, place?: string, retry_at?: string, submission?: string, dry?: boolean}} Problem */

const BROKE_BEFORE = "The connection broke while sending. Nothing was kept; send it again.";
const BROKE_AFTER =
  "The connection broke before the answer came. Look at your uploads: if the file is not there, send it again.";

/** @param {number} bytes */
function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1000).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}

/** @param {Accepted} accepted */
function showUsed({ used, limit }) {
  const bar = find("[data-used-bar]", HTMLProgressElement);
  setText(find("[data-used]", HTMLElement), `${used} of ${limit}`);
  if (bar) bar.value = used;
}

/** One file's section: heading, progress of sending, then the rows of its records. */
class UploadBox {
  /** @param {File} file */
  constructor(file) {
    this.element = make("section", undefined, "up");
    this.head = make("div", undefined, "sechead");
    this.head.append(make("h2", file.name, "file-name"), make("span", sizeText(file.size), "muted s"));
    this.bar = document.createElement("progress");
    this.bar.max = 1;
    this.bar.value = 0;
    this.bar.setAttribute("aria-label", `Sending ${file.name}`);
    this.note = make("p", "Waiting to be sent", "s quiet");
    this.element.append(this.head, this.bar, this.note);
  }

  /** @param {number} sent @param {number} total */
  sending(sent, total) {
    this.bar.value = total ? sent / total : 0;
    this.note.textContent =
      sent < total ? `Sending, ${sizeText(sent)} of ${sizeText(total)}` : "Sent; each record is being read";
  }

  /** @param {Accepted} accepted */
  accepted(accepted) {
    this.bar.remove();
    this.note.remove();
    const link = make("a", "Page of this upload", "end s");
    link.setAttribute("href", accepted.url);
    this.head.append(link);
    const box = make("div");
    box.dataset.status = accepted.status_url;
    const progress = make("div");
    progress.dataset.progress = "";
    const rows = make("ol", undefined, "recs panel");
    rows.dataset.rows = "";
    const trouble = make("p", undefined, "s bad-ink");
    trouble.dataset.trouble = "";
    trouble.hidden = true;
    box.append(progress, rows, trouble);
    this.element.append(box);
    watchSubmission(box);
    showUsed(accepted);
  }

  /** The verdicts of a dry run, as this site rendered them. @param {string} html */
  checked(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    this.element.replaceWith(template.content);
  }

  /** @param {Problem} problem */
  refused(problem) {
    this.bar.remove();
    this.note.remove();
    const notice = make("div", undefined, "notice error refusal");
    notice.setAttribute("role", "alert");
    const first = make("p");
    first.append(make("b", "Refused"), " ", make("code", problem.code ?? "internal"));
    if (problem.place) first.append(" at ", make("code", problem.place));
    notice.append(first, make("p", problem.detail ?? "No answer that can be understood. Try again."));
    if (problem.dry) notice.append(make("p", "This was a dry run: nothing was kept.", "s"));
    if (problem.submission) {
      const line = make("p");
      const link = make("a", "What was found in the file");
      link.setAttribute("href", `/submissions/${problem.submission}/`);
      line.append(link);
      notice.append(line);
    }
    this.element.append(notice);
  }
}

/**
 * Send one file; resolves when it is answered, whatever the answer.
 * @param {string} address
 * @param {FormData} body whose file is replaced
 * @param {File} file
 * @param {UploadBox} box
 * @returns {Promise<void>}
 */
function send(address, body, file, box) {
  body.set("file", file, file.name);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", ({ loaded, total }) => box.sending(loaded, total));
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      if (request.status === 201) box.accepted(/** @type {Accepted} */ (answer));
      else if (request.status === 200 && answer.dry_run) box.checked(answer.html);
      else box.refused({ ...answer, dry: body.has("dry_run") });
    });
    let sent = false;
    request.upload.addEventListener("load", () => (sent = true));
    request.addEventListener("error", () => {
      const kept = sent && !body.has("dry_run");
      box.refused({ code: "connection", detail: kept ? BROKE_AFTER : BROKE_BEFORE });
    });
    request.addEventListener("loadend", () => resolve());
    request.send(body);
  });
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * Send files one after another; a new agent is made with the first, and its name means it for the others.
 * @param {HTMLFormElement} form
 * @param {FormData} body the form as it was filled when the files were given
 * @param {UploadBox[]} boxes one for each file
 * @param {File[]} files
 */
async function sendAll(form, body, boxes, files) {
  for (const [i, file] of files.entries()) {
    const limit = Number(form.dataset.fileBytes);
    if (file.size > limit) {
      const detail = `larger than the limit of ${form.dataset.fileText}`;
      boxes[i].refused({ code: "limit_exceeded", place: "file", detail });
    } else await send(form.action, body, file, boxes[i]);
  }
}

/** Show the name's field only for a new agent. @param {HTMLFormElement} form */
function bindAgent(form) {
  const choice = find("[data-agent]", HTMLSelectElement, form);
  const field = find("[data-new-agent]", HTMLElement, form);
  const name = find("#agent_name", HTMLInputElement, form);
  if (!choice || !field) return;
  const follow = () => {
    field.hidden = choice.value !== "+";
    if (name) name.required = !field.hidden;
  };
  choice.addEventListener("change", follow);
  follow();
}

/** @param {HTMLFormElement} form */
function bindDrop(form) {
  const drop = find("[data-drop]", HTMLElement, form);
  const input = find("#file", HTMLInputElement, form);
  const uploads = find("[data-uploads]", HTMLElement);
  if (!drop || !input || !uploads) return;
  input.multiple = true;
  form.querySelector("[data-send]")?.parentElement?.remove();

  let sending = Promise.resolve();
  /** @param {File[]} files */
  const take = (files) => {
    input.required = false;
    if (!files.length || !form.reportValidity()) return;
    const body = new FormData(form);
    const boxes = files.map((file) => new UploadBox(file));
    uploads.prepend(...boxes.map((box) => box.element));
    input.value = "";
    sending = sending.then(() => sendAll(form, body, boxes, files));
  };
  input.addEventListener("change", () => take([...(input.files ?? [])]));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...(event.dataTransfer?.files ?? [])]);
  });
}

const form = find("[data-submit]", HTMLFormElement);
if (form) {
  bindAgent(form);
  bindDrop(form);
}
