// @ts-check
// The front page's running episode: followed like any watcher follows it, with the way to watch it whole.

import { mountBoard } from "../board.js";
import { need, write } from "../dom.js";
import { countView, describeView } from "../lib/view.js";
import { NO_RUN } from "../play/status.js";
import { followEpisode } from "../socket.js";

/** @typedef {import("../lib/reducer.js").Episode} Episode */

const HEIGHT_PX = 300;
const NARROW_HEIGHT_PX = 240;

/** @type {{socket: string, run: string}} */
const data = JSON.parse(need("live-data", HTMLScriptElement).textContent ?? "");
const canvas = need("live-board", HTMLCanvasElement);
const stage = need("live-stage", HTMLAnchorElement);
const link = need("live-link", HTMLAnchorElement);
/** @type {import("../board.js").Board|null} */
let board = null;

const line = followEpisode(data.socket, { changed });

/**
 * @param {Episode} episode
 * @param {Episode} before
 * @param {boolean} stale
 */
function changed(episode, before, stale) {
  const off = stale || episode.phase === "reconnecting" || episode.phase === "stopped";
  stage.classList.toggle("off", off);
  need("live", HTMLElement).dataset.phase = off ? "off" : episode.phase;
  write("live-line", words(episode, stale));
  if (episode.view && episode.view !== before.view) show(episode.view);
  // Where the run could not be stored at once, the end is told without it, and again with it.
  if (!episode.end?.run || episode.end === before.end) return;
  line?.close();
  link.textContent = "See the run";
  link.href = stage.href = data.run.replace(NO_RUN, episode.end.run);
}

/** @param {import("../lib/view.js").View} view */
function show(view) {
  if (board) board.set({ view });
  else {
    board = mountBoard(canvas, {
      view,
      labels: true,
      maxWidth: () => stage.clientWidth,
      maxHeight: () => (innerWidth < 1000 ? NARROW_HEIGHT_PX : HEIGHT_PX),
    });
  }
  const now = countView(view);
  write("live-out", now.evacuated);
  write("live-inside", now.active);
  write("live-lost", now.casualty);
  write("live-step", view.step);
  canvas.setAttribute("aria-label", describeView(view));
}

/**
 * @param {Episode} episode
 * @param {boolean} stale
 */
function words(episode, stale) {
  const watching = episode.watchers === 1 ? "1 person watches" : `${episode.watchers} people watch`;
  switch (episode.phase) {
    case "connecting":
      return "Connecting";
    case "over":
      return `Over: ${episode.end ? `${episode.end.summary.evacuated} of ${episode.end.summary.population} out` : episode.why}`;
    case "stopped":
      return `Stopped: ${episode.why}`;
    case "reconnecting":
      return `Reconnecting: ${episode.why}`;
    default:
      return stale ? "No word for 10 s" : episode.paused ? "Paused" : watching;
  }
}
