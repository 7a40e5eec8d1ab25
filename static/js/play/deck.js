// @ts-check
// The controls for looking back at a running episode: buttons, slider and keys on one `Rewind`.

import { WATCH_KEYS, watchKey } from "../lib/rewind.js";
import { symbol } from "../symbols.js";
import { make, need, write } from "../dom.js";

/** @typedef {import("../lib/rewind.js").Rewind} Rewind */

/** Steps a second when held frames play on, as on the page of a run. */
const PLAY_MS = 250;

export class Deck {
  /**
   * @param {Rewind} rewind
   * @param {() => void} show draws the frame that `rewind` shows now
   */
  constructor(rewind, show) {
    this.rewind = rewind;
    this.show = show;
    this.timer = 0;
    this.over = false;
    this.range = need("deck-range", HTMLInputElement);
    this.playButton = need("deck-play", HTMLButtonElement);
    this.liveButton = need("deck-live", HTMLButtonElement);
    this.range.addEventListener("input", () => this.do("hold", this.range.valueAsNumber));
    for (const button of document.querySelectorAll("[data-watch]")) {
      button.addEventListener("click", () => this.do(/** @type {HTMLElement} */ (button).dataset.watch ?? "", 1));
    }
    document.addEventListener("keydown", (event) => this.key(event));
    showHelp();
  }

  /**
   * @param {string} does
   * @param {number} value a frame for `hold`, a number of frames for `back` and `forward`
   */
  do(does, value) {
    const { rewind } = this;
    if (does === "toggle" && !rewind.live && !this.timer) return this.play();
    this.pause();
    if (does === "hold") rewind.hold(value);
    else if (does === "back") rewind.move(-value);
    else if (does === "forward" && !rewind.live) rewind.move(value);
    else if (does === "first") rewind.hold(0);
    else if (does === "live") rewind.goLive();
    else if (does === "toggle" && rewind.live && !this.over) rewind.hold(rewind.index);
    return this.show();
  }

  /** Let the held frames run until the present is reached. */
  play() {
    this.timer = window.setInterval(() => {
      this.rewind.move(1);
      if (this.rewind.live) this.pause();
      this.show();
    }, PLAY_MS);
    this.show();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.closest("select, textarea, input:not([type=range])")) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const does = watchKey(event.key);
    if (!does) return;
    event.preventDefault();
    this.do(does, event.shiftKey ? 10 : 1);
  }

  /** Write what the deck says about the shown frame. */
  write() {
    const { rewind } = this;
    const { view, behind, missed } = rewind;
    if (!view) return;
    need("deck", HTMLElement).hidden = false;
    this.range.disabled = rewind.frames.length < 2;
    this.range.max = String(rewind.frames.length - 1);
    this.range.value = String(rewind.index);
    this.range.setAttribute("aria-valuetext", `step ${view.step}`);
    const where = this.over ? "the end" : "live";
    write("deck-step", view.step);
    write("deck-behind", rewind.live ? (this.over ? "the end" : "live") : behind ? `${behind} behind ${where}` : "held");
    write("deck-missed", missed ? `${stepsText(missed)} did not reach this page.` : "");
    this.liveButton.disabled = rewind.live;
    write("deck-live-word", this.over ? "Go to the end" : "Go live");
    const plays = rewind.live ? !this.over : this.timer > 0;
    const label = plays ? "Hold" : "Play on";
    if (this.playButton.getAttribute("aria-label") !== label) {
      this.playButton.setAttribute("aria-label", label);
      this.playButton.replaceChildren(symbol(plays ? "pause" : "play", { size: "small" }));
    }
    this.playButton.disabled = rewind.live && this.over;
  }
}

/** @param {[number, number]} range */
function stepsText([first, last]) {
  return first === last ? `Step ${first}` : `Steps ${first} to ${last}`;
}

function showHelp() {
  const help = need("deck-keys", HTMLElement);
  for (const { shown, text } of WATCH_KEYS) {
    for (const cap of shown) help.append(make("kbd", cap), " ");
    if (text) help.append(`${text} `);
  }
}
