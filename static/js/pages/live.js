// @ts-check
// Watching one episode: the same board and counts as in play, a way to look back, nothing that could act.

import { mountBoard } from "../board.js";
import { need, write } from "../dom.js";
import { Game } from "../lib/game.js";
import { Rewind } from "../lib/rewind.js";
import { describeView } from "../lib/view.js";
import { Deck } from "../play/deck.js";
import { pageData } from "../play/page.js";
import { showAttention, showExits } from "../play/panel.js";
import { bindSpeed, showSpeed } from "../play/speed.js";
import { boardHeight, refit } from "../play/stage.js";
import { showCounts, showEnd, showLine, showNotice } from "../play/status.js";
import { followEpisode } from "../socket.js";

/** @typedef {import("../lib/reducer.js").Episode} Episode */

const page = pageData();
const game = new Game();
const rewind = new Rewind();
const canvas = need("board", HTMLCanvasElement);
const box = need("board-box", HTMLElement);
const endDialog = need("end", HTMLDialogElement);
/** @type {import("../board.js").Board|null} */
let board = null;
/** @type {string[]} who was chosen in the list, to be found on the board */
let sought = [];

document.body.classList.add("watching");
canvas.setAttribute("role", "img");
const deck = new Deck(rewind, show);
const line = followEpisode(page.socket, { changed });
bindSpeed(showNotice);

/**
 * @param {Episode} episode
 * @param {Episode} before
 * @param {boolean} stale
 */
function changed(episode, before, stale) {
  showLine(episode, stale, line?.retryInS ?? 0);
  box.classList.toggle("off", stale || episode.phase === "reconnecting" || episode.phase === "stopped");
  write("crowd", episode.watchers === 1 ? "1 person" : `${episode.watchers} people`);
  if (episode.end && episode.end !== before.end) over(episode);
  if (episode.view && episode.view !== before.view) {
    rewind.see(episode.view);
    if (rewind.live) show(episode);
    else deck.write();
  }
  notices(episode, before);
}

/**
 * @param {Episode} episode
 * @param {Episode} before
 */
function notices(episode, before) {
  if (episode.phase === "stopped" && before.phase !== "stopped") {
    if (episode.halted) showNotice(episode.why);
    else showNotice(episode.why, "Try again", () => line.takeOver());
  }
  if (episode.phase === "reconnecting" && before.phase !== "reconnecting") {
    showNotice(`${episode.why} What came so far stays here; the rest follows when the line is back.`);
  }
  if (episode.phase === "live" && before.phase !== "live") showNotice("");
  if (!episode.notice || episode.notice === before.notice) return;
  if (episode.notice.code === "speed") showSpeed(episode.notice.steps_per_second);
  else showNotice(episode.notice.message);
}

/**
 * Show the frame that is looked at, with everything that depends on it.
 * @param {Episode} [episode]
 */
function show(episode = line.episode) {
  const { view } = rewind;
  if (!view || !episode.rules) return;
  game.see(view, episode.rules);
  game.select(sought);
  const { selected } = game;
  const flags = new Set(game.flags.map((flag) => flag.id));
  if (board) board.set({ view, flags, selected });
  else {
    board = mountBoard(canvas, {
      view,
      flags,
      selected,
      labels: true,
      ids: true,
      maxHeight: () => boardHeight(box, { least: 240, rest: 360 }),
    });
    refit(box, board);
  }
  box.classList.toggle("past", !rewind.live);
  canvas.setAttribute("aria-label", describeView(view));
  showCounts({ ...episode, view });
  showAttention(game, seek);
  showExits(game, false);
  deck.write();
}

/** Mark a person of the list on the board, or take the mark back. @param {string} id */
function seek(id) {
  sought = sought.includes(id) ? [] : [id];
  show();
}

/** @param {Episode} episode */
function over(episode) {
  if (rewind.view) showCounts({ ...episode, view: rewind.view });
  showEnd(episode, page, 0);
  if (deck.over) return; // said before; only the run is news
  deck.over = true;
  deck.write();
  const sawItRun = rewind.frames.length > 1;
  showNotice(sawItRun ? "The episode is over." : "This episode is over; the board shows its end.", "Result", () => endDialog.showModal());
  // Who looks back is not torn out of it; the notice says that there is a result.
  if (rewind.live) endDialog.showModal();
}
