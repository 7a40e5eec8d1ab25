// @ts-check
// Keep the rows of an upload fresh. The server renders each row; what a reload would show is what comes in.

import { pollUntil } from "./poll.js";
import { watchScenes } from "./run/scene.js";

/**
 * @typedef {object} StatusAnswer
 * @property {boolean} finished
 * @property {string} progress HTML of the progress line
 * @property {{id: string, letter: string, html: string}[]} rows only those that have changed
 */

/**
 * Elements from HTML that this site rendered.
 * @param {string} html
 */
function elements(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/**
 * Poll the status of an upload and put what changed into `[data-rows]` and `[data-progress]` of the element.
 * @param {HTMLElement} element with the address in `data-status`
 */
export function watchSubmission(element) {
  const rows = element.querySelector("[data-rows]");
  const progress = element.querySelector("[data-progress]");
  const trouble = element.querySelector("[data-trouble]");
  const address = element.dataset.status;
  if (!rows || !progress || !address) return;

  watchScenes(rows);

  const url = () => {
    const letters = [...rows.children].map((row) => (row instanceof HTMLElement ? row.dataset.letter : "") || "-");
    return `${address}${address.includes("?") ? "&" : "?"}have=${letters.join("")}`;
  };

  /** @param {StatusAnswer} answer */
  const use = (answer) => {
    for (const { id, html } of answer.rows) {
      const fresh = elements(html);
      const old = [...rows.children].find((row) => row.id === id);
      if (old) old.replaceWith(fresh);
      else rows.append(fresh);
    }
    if (answer.rows.length) watchScenes(rows);
    progress.replaceChildren(elements(answer.progress));
    return answer.finished || (answer.rows.length > 0 ? "again" : false);
  };

  pollUntil(url, use, {
    onTrouble: (text) => {
      if (!(trouble instanceof HTMLElement)) return;
      trouble.textContent = text ? `No answer from the site (${text}). Still trying; nothing is lost.` : "";
      trouble.hidden = text === "";
    },
  });
}
