// @ts-check
// Watching one episode: the same board and counts as in play, and nothing that could act.

import { mountBoard } from "../board.js";
import { Game } from "../lib/game.js";
import { describeView } from "../lib/view.js";
import { need, pageData, write } from "../play/dom.js";
import { showAttention, showExits } from "../play/panel.js";
import { showCounts, showEnd, showLine, showNotice } from "../play/status.js";
import { followEpisode } from "../socket.js";

/** @typedef {import("../lib/reducer.js").Episode} Episode */

const page = pageData();
const game = new Game();
const canvas = need("board", HTMLCanvasElement);
const box = need("board-box", HTMLElement);
const endDialog = need("end", HTMLDialogElement);
/** @type {import("../board.js").Board|null} */
let board = null;
let sawItRun = false;

document.body.classList.add("watching");
canvas.setAttribute("role", "img");
const line = followEpisode(page.socket, { changed });

/**
 * @param {Episode} episode
 * @param {Episode} before
 * @param {boolean} stale
 */
function changed(episode, before, stale) {
  showLine(episode, stale, line?.retryInS ?? 0);
  box.classList.toggle("off", stale || episode.phase === "reconnecting" || episode.phase === "stopped");
  write("crowd", episode.watchers === 1 ? "1 person" : `${episode.watchers} people`);
  if (episode.view && episode.rules && episode.view !== before.view) {
    game.see(episode.view, episode.rules);
    show(episode.view);
    showCounts(episode);
  }
  if (episode.phase === "stopped" && before.phase !== "stopped") showNotice(episode.why, "Try again", () => line.takeOver());
  if (episode.phase === "live" && before.phase !== "live") showNotice("");
  if (episode.notice && episode.notice !== before.notice) showNotice(episode.notice.message);
  if (episode.phase === "live" && episode.view) sawItRun = true;
  if (episode.end && episode.end !== before.end) over(episode);
}

/** @param {import("../lib/view.js").View} view */
function show(view) {
  const flags = new Set(game.flags.map((flag) => flag.id));
  if (board) board.set({ view, flags });
  else {
    board = mountBoard(canvas, {
      view,
      flags,
      labels: true,
      ids: true,
      maxHeight: () => (innerWidth > 900 ? Math.max(280, box.clientHeight - 64) : Math.max(260, innerHeight - 240)),
    });
  }
  canvas.setAttribute("aria-label", describeView(view));
  showAttention(game, () => undefined);
  showExits(game, false);
}

/** @param {Episode} episode */
function over(episode) {
  showEnd(episode, page, 0);
  const text = sawItRun ? "" : "This episode is over; the board shows its end.";
  showNotice(text || "The episode is over.", "Result", () => endDialog.showModal());
  endDialog.showModal();
}
