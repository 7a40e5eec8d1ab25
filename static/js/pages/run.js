// @ts-check
// The page of one run: replay on the board, and the wait for a verdict that is not in yet.

import { mountBoard } from "../board.js";
import { find, setText } from "../dom.js";
import { curves, sceneGhosts, stepFromText, stepsDue } from "../lib/replay.js";
import { describeView, viewFromTrack } from "../lib/view.js";
import { pollUntil } from "../poll.js";
import { drawChart, stepAtChart } from "../run/chart.js";
import { showParting } from "../run/parting.js";
import { symbol } from "../symbols.js";

/**
 * @typedef {import("../lib/view.js").Track & {
 *   scene?: import("../lib/replay.js").Scene | null, parting?: import("../lib/replay.js").Parting | null
 * }} Track
 */
/** @typedef {{track: string, difference: number | null, person: string | null}} ViewerData */

/** @param {string} selector @param {string|number} text */
const write = (selector, text) => setText(find(selector, Element), text);

/** A step that is shown for so long goes into the address. */
const REST_MS = 250;

/** The replay: one clock, one board, one chart. */
class Replay {
  /**
   * @param {Track} track
   * @param {ViewerData} data
   * @param {HTMLCanvasElement} canvas
   */
  constructor(track, data, canvas) {
    this.track = track;
    this.canvas = canvas;
    this.curves = curves(track);
    this.chart = find("[data-chart]", SVGSVGElement);
    this.range = find("[data-range]", HTMLInputElement);
    this.speed = find("[data-speed]", HTMLSelectElement);
    this.step = 0;
    this.timer = 0;
    this.due = 0;
    this.pending = 0;
    this.remembering = 0;
    const numbers = track.people.length <= 40;
    this.board = mountBoard(canvas, {
      view: viewFromTrack(track, 0),
      labels: true,
      ids: numbers,
      selected: new Set(data.person ? [data.person] : []),
      maxHeight: () => Math.max(300, Math.min(620, innerHeight - 330)),
    });
    const ids = find("[data-ids]", HTMLInputElement);
    if (ids) {
      ids.checked = numbers;
      ids.addEventListener("change", () => this.board.set({ ids: ids.checked }));
    }
    if (this.range) this.range.max = String(track.steps);
    write("[data-steps]", track.steps);
    this.begin(data);
  }

  /** The step of the address, or the start of the step that differs, or the first. @param {ViewerData} data */
  begin(data) {
    const asked = new URLSearchParams(location.search).get("t");
    const { step, note } = stepFromText(asked, this.track.steps);
    if (note) this.say(note);
    const differing = this.track.scene ? this.track.scene.step - 1 : data.difference;
    this.show(asked === null && differing !== null ? Math.min(differing, this.track.steps) : step);
  }

  /** @param {string} note */
  say(note) {
    const element = find("[data-note]", HTMLElement);
    if (!element) return;
    element.textContent = note;
    element.hidden = note === "";
  }

  /** Show a step; numbers at once, the canvas in the next frame. @param {number} step */
  show(step) {
    this.step = Math.max(0, Math.min(this.track.steps, step));
    write("[data-step]", this.step);
    write("[data-out]", this.curves.out[this.step]);
    write("[data-inside]", this.curves.inside[this.step]);
    write("[data-lost]", this.curves.lost[this.step]);
    if (this.range) this.range.value = String(this.step);
    this.pending ||= requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.pending = 0;
    const view = viewFromTrack(this.track, this.step);
    const { scene } = this.track;
    const parting = scene && scene.step - 1 === this.step ? scene : null;
    this.board.set({ view, ...sceneGhosts(parting) });
    this.canvas.setAttribute("aria-label", describeView(view));
    if (this.chart) drawChart(this.chart, this.track, this.curves, this.step);
    if (!this.timer) this.remember();
  }

  /**
   * Put the step into the link that the button copies, and into the address once it rests: browsers refuse an
   * address that changes as often as a slider does.
   */
  remember() {
    const address = new URL(location.href);
    address.searchParams.set("t", String(this.step));
    const link = find("[data-link]", HTMLElement);
    if (link) link.dataset.copy = address.href;
    clearTimeout(this.remembering);
    this.remembering = window.setTimeout(() => history.replaceState(null, "", address), REST_MS);
  }

  /** @param {number} step */
  go(step) {
    this.say("");
    this.pause();
    this.show(step);
  }

  toggle() {
    if (this.timer) {
      this.pause();
      this.remember();
    } else this.play();
  }

  play() {
    this.say("");
    if (this.step >= this.track.steps) this.show(0);
    this.due = performance.now() + this.interval();
    this.timer = requestAnimationFrame((now) => this.tick(now));
    this.playButton("pause", "Pause");
  }

  pause() {
    if (this.timer) cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.playButton("play", "Play");
  }

  /** Milliseconds between two steps. */
  interval() {
    return 1000 / Number(this.speed?.value ?? 4);
  }

  /** @param {number} now */
  tick(now) {
    const { steps, due } = stepsDue(now, this.due, this.interval());
    this.due = due;
    if (steps) this.show(this.step + steps);
    if (this.step >= this.track.steps) {
      this.pause();
      this.remember();
    } else this.timer = requestAnimationFrame((later) => this.tick(later));
  }

  /** @param {string} name @param {string} label */
  playButton(name, label) {
    const button = find("[data-play]", HTMLButtonElement);
    if (!button || button.getAttribute("aria-label") === label) return;
    button.setAttribute("aria-label", label);
    button.replaceChildren(symbol(name, { size: "small" }));
  }
}

/** @param {Replay} replay */
function bindButtons(replay) {
  const { steps } = replay.track;
  for (const button of document.querySelectorAll("[data-go]")) {
    if (!(button instanceof HTMLElement)) continue;
    const where = button.dataset.go;
    button.addEventListener("click", () => {
      replay.go(where === "first" ? 0 : where === "last" ? steps : replay.step + Number(where));
    });
  }
  find("[data-play]", HTMLButtonElement)?.addEventListener("click", () => replay.toggle());
  replay.range?.addEventListener("input", () => replay.go(replay.range?.valueAsNumber ?? 0));
  replay.chart?.addEventListener("pointerdown", (event) => {
    if (replay.chart) replay.go(stepAtChart(replay.chart, event.clientX, steps));
  });
  addEventListener("resize", () => replay.show(replay.step));
}

/** @param {Replay} replay */
function bindKeys(replay) {
  const { steps } = replay.track;
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const keys = {
    " ": () => replay.toggle(),
    ArrowLeft: ({ shiftKey }) => replay.go(replay.step - (shiftKey ? 10 : 1)),
    ArrowRight: ({ shiftKey }) => replay.go(replay.step + (shiftKey ? 10 : 1)),
    Home: () => replay.go(0),
    End: () => replay.go(steps),
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLElement)) return;
    if (target.closest("select, textarea, input:not([type=range], [type=checkbox]), summary")) return;
    if (event.key === " " && target.closest("button, a, input[type=checkbox]")) return;
    const speed = replay.speed?.options[Number(event.key) - 1];
    if (/^[1-9]$/.test(event.key) && speed && replay.speed) replay.speed.value = speed.value;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}

async function showReplay() {
  const element = document.getElementById("run-viewer");
  const canvas = find("#board", HTMLCanvasElement);
  if (!element || !canvas) return;
  /** @type {ViewerData} */
  const data = JSON.parse(element.textContent ?? "{}");
  const answer = await fetch(data.track, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the replay came with status ${answer.status}`);
  /** @type {Track} */
  const track = await answer.json();
  for (const selector of ["[data-deck]", "[data-time]", "#board"]) {
    document.querySelector(selector)?.removeAttribute("hidden");
  }
  find("[data-still]", HTMLElement)?.setAttribute("hidden", "");
  const parting = find("[data-parting]", HTMLElement);
  if (parting) showParting(track, parting);
  const replay = new Replay(track, data, canvas);
  bindButtons(replay);
  bindKeys(replay);
}

/** Load the page again once the verdict is in; until then show the place in the queue. */
function awaitVerdict() {
  const panel = find("[data-status]", HTMLElement);
  const url = panel?.dataset.status;
  if (!panel || !url) return;
  pollUntil(url, (answer) => {
    const news = answer.final || (answer.state === "running") !== (panel.dataset.runState === "running");
    // Nothing more is asked then: to load the page again and again would stop it each time on its way.
    if (news) location.reload();
    else if (answer.position) write("[data-position]", `${answer.position} in the queue`);
    return Boolean(news);
  });
}

awaitVerdict();
showReplay().catch((error) => {
  const still = find("[data-still]", HTMLElement);
  const note = document.createElement("p");
  note.className = "s bad-ink";
  note.textContent = `The replay could not be loaded: ${error instanceof Error ? error.message : error}. Reload to try again.`;
  still?.after(note);
});
