// @ts-check
// The game page: joins the line to the server, the player's orders, the board and the panels.

import { mountBoard } from "../board.js";
import { make, need, write } from "../dom.js";
import { Game } from "../lib/game.js";
import { describeView } from "../lib/view.js";
import { bindHold } from "../play/hold.js";
import { bindKeys, showKeys } from "../play/keyboard.js";
import { pageData } from "../play/page.js";
import { showAttention, showExits, showSelection } from "../play/panel.js";
import { bindPointer } from "../play/pointer.js";
import { boardHeight, refit } from "../play/stage.js";
import { showCounts, showEnd, showLine, showNotice } from "../play/status.js";
import { followEpisode } from "../socket.js";

/** @typedef {import("../lib/reducer.js").Episode} Episode */
/** @typedef {"north"|"south"|"east"|"west"} Direction */

/** Fewest milliseconds between two steps while a key or the button is held. */
const RUN_MS = 120;

const page = pageData();
const game = new Game(page.assist);
const canvas = need("board", HTMLCanvasElement);
const box = need("board-box", HTMLElement);
const orders = need("orders", HTMLElement);
const stepButton = need("step", HTMLButtonElement);
const endDialog = need("end", HTMLDialogElement);
const keysDialog = need("keys", HTMLDialogElement);
/** @type {import("../board.js").Board|null} */
let board = null;
let committedAt = 0;
let awaitsExit = false;
let endShown = false;
/** @type {(() => void)|null} what was pressed while a step was on its way */
let next = null;

const line = followEpisode(page.socket, { changed });
showKeys();
need("help", HTMLButtonElement).onclick = () => keysDialog.showModal();
bindKeys(canvas, perform, chooseExit);
bindButtons();

/**
 * @param {Episode} episode
 * @param {Episode} before
 * @param {boolean} stale
 */
function changed(episode, before, stale) {
  showLine(episode, stale, line?.retryInS ?? 0);
  const signedOut = episode.phase === "live" && episode.role !== "player";
  const off = stale || signedOut || episode.phase === "reconnecting" || episode.phase === "stopped";
  box.classList.toggle("off", off);
  orders.toggleAttribute("inert", off);
  notices(episode, before);
  if (episode.view && episode.rules && (episode.view !== before.view || !game.view)) {
    game.see(episode.view, episode.rules);
    if (!board) mount(episode.view);
    showCounts(episode);
    speak(before.view, episode.view);
  }
  if (episode.view !== before.view || episode.phase !== before.phase || episode.pending !== before.pending) redraw();
  if (next && before.pending && !episode.pending) {
    const press = next;
    next = null;
    queueMicrotask(() => episode.ack?.result === "applied" && press());
  }
  if (episode.end && episode.end !== before.end) {
    showCounts(episode);
    showEnd(episode, page, game.assist);
    if (!endShown) over();
    endShown = true;
  }
}

/** The result comes up by itself once, and stays within reach. */
function over() {
  keysDialog.close();
  endDialog.addEventListener("close", () => showNotice("The episode is over.", "Result", () => endDialog.showModal()));
  endDialog.showModal();
  need("end-run", HTMLElement).focus();
}

/** @param {import("../lib/view.js").View} view */
function mount(view) {
  board = mountBoard(canvas, {
    view,
    labels: true,
    ids: true,
    maxCell: 76,
    maxHeight: () => boardHeight(box, { least: 260, rest: 300 }),
  });
  refit(box, board);
  bindPointer(canvas, board, game, { redraw, aim, usable });
  if (matchMedia("(pointer: fine)").matches) canvas.focus({ preventScroll: true });
}

/** Draw everything that depends on orders or selection. */
function redraw() {
  if (!board || !game.view) return;
  const order = commonOrder();
  board.set({
    view: game.view,
    selected: game.selected,
    // People in a queue are in the list; marked on the board are those in danger.
    flags: new Set(game.flags.filter((flag) => flag.kind !== "wait").map((flag) => flag.id)),
    ghost: line.episode.phase === "over" ? new Map() : game.ghost,
    target: order,
  });
  canvas.setAttribute("aria-label", `${describeView(game.view)} ${selectionText()}`);
  showSelection(game);
  showAttention(game, (id) => {
    game.select([id]);
    redraw();
  });
  showExits(game, true);
  showOrderButtons();
  write("assist", `assist ${game.assist}`);
  stepButton.disabled = line.episode.phase === "over";
}

/** The cell that the whole selection is ordered to, for the mark on the board. */
function commonOrder() {
  const orders = [...game.selected].map((id) => game.orders.get(id));
  const first = orders[0];
  if (!first || orders.some((order) => JSON.stringify(order) !== JSON.stringify(first))) return undefined;
  if (first.kind === "cell") return { row: first.row, col: first.col };
  if (first.kind === "exit") return game.view?.exits.find((exit) => exit.id === first.exit);
  return undefined;
}

function selectionText() {
  const ids = [...game.selected];
  if (!ids.length) return "Nobody is selected.";
  return ids.length === 1 ? `${ids[0]} is selected.` : `${ids.length} people are selected.`;
}

function usable() {
  return !box.classList.contains("off") && line.episode.phase !== "over";
}

/** @param {{row: number, col: number}} cell */
function aim(cell) {
  const view = game.view;
  if (!view || view.walls[cell.row * view.width + cell.col]) return;
  if (!game.selected.size) return showNotice("Select somebody first: click a person, drag a box, or press Tab.");
  const exit = view.exits.find(({ row, col }) => row === cell.row && col === cell.col);
  game.order(exit ? { kind: "exit", exit: exit.id } : { kind: "cell", ...cell });
}

/**
 * Do what a key or a button stands for.
 * @param {string} does
 * @param {boolean} repeat
 * @returns {boolean} whether it was used
 */
function perform(does, repeat) {
  awaitsExit = awaitsExit && does === "exit";
  if (does === "help") {
    keysDialog.showModal();
    return true;
  }
  if (does === "step") return commit(repeat) || true;
  if (!usable()) return false;
  switch (does) {
    case "next":
    case "previous":
      speakPerson(game.selectNext(does === "next" ? 1 : -1));
      break;
    case "all":
      game.selectAll();
      break;
    case "clear":
      if (!game.selected.size) return leaveBoard();
      game.select([]);
      break;
    case "nearest":
    case "hold":
      if (!game.order({ kind: does })) askForSelection();
      break;
    case "exit":
      awaitsExit = true;
      if (game.view?.exits.length === 1) chooseExit(1);
      break;
    default:
      return nudge(/** @type {Direction} */ (does), repeat);
  }
  redraw();
  return true;
}

/**
 * With one person inside, one arrow key is one step.
 * @param {Direction} direction
 * @param {boolean} repeat
 */
function nudge(direction, repeat) {
  if (game.active.length === 1) {
    if (repeat && performance.now() - committedAt < RUN_MS) return true;
    if (!line.ready) {
      if (!repeat && line.episode.pending) next = () => nudge(direction, false);
      return true;
    }
    game.selectAll();
    game.nudge(direction);
    commit(repeat);
  } else if (!repeat && !game.nudge(direction)) askForSelection();
  redraw();
  return true;
}

/** @param {number} digit */
function chooseExit(digit) {
  const exit = game.view?.exits[digit - 1];
  if (!awaitsExit || !exit) return false;
  awaitsExit = false;
  if (!game.order({ kind: "exit", exit: exit.id })) askForSelection();
  redraw();
  return true;
}

function askForSelection() {
  showNotice("Select somebody first: click a person, drag a box, or press Tab. Ctrl A or All takes everyone.");
}

function leaveBoard() {
  if (document.activeElement !== canvas) return false;
  /** @type {HTMLElement|null} */ (document.querySelector("[data-does=all]"))?.focus();
  return true;
}

/**
 * Make the step with everybody's orders.
 * @param {boolean} repeat
 */
function commit(repeat) {
  const now = performance.now();
  if (game.over || (repeat && now - committedAt < RUN_MS)) return false;
  if (!line.ready) {
    if (!repeat && line.episode.pending && usable()) next = () => commit(false);
    return false;
  }
  committedAt = now;
  game.sending();
  showNotice("");
  return line.act(game.actions, game.assist);
}

function bindButtons() {
  for (const button of document.querySelectorAll("[data-does]")) {
    button.addEventListener("click", (event) => {
      perform(/** @type {HTMLElement} */ (button).dataset.does ?? "", false);
      backToBoard(event);
    });
  }
  bindHold(stepButton, RUN_MS / 2, { act: commit, usable });
  stepButton.addEventListener("click", backToBoard);
}

/** After a click with the pointer the keys belong to the board again. @param {Event} event */
function backToBoard(event) {
  if (event instanceof MouseEvent && event.detail > 0) canvas.focus({ preventScroll: true });
}

/** Press those order buttons that the whole selection follows. */
function showOrderButtons() {
  for (const kind of ["hold", "nearest"]) {
    const chosen = game.selected.size > 0 && [...game.selected].every((id) => game.orders.get(id)?.kind === kind);
    document.querySelector(`[data-does=${kind}]`)?.setAttribute("aria-pressed", String(chosen));
  }
  showExitButtons();
}

function showExitButtons() {
  const holder = need("exit-buttons", HTMLElement);
  const exits = game.view?.exits ?? [];
  if (holder.childElementCount !== exits.length) {
    holder.replaceChildren(
      ...exits.map((exit, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "btn sm";
        button.append(`Exit ${exit.id} `);
        if (i < 9) button.append(make("kbd", exits.length === 1 ? "E" : `E ${i + 1}`));
        button.onclick = (event) => {
          if (!game.order({ kind: "exit", exit: exit.id })) askForSelection();
          redraw();
          backToBoard(event);
        };
        return button;
      }),
    );
  }
  exits.forEach((exit, i) => {
    const chosen = game.selected.size > 0 && [...game.selected].every((id) => {
      const order = game.orders.get(id);
      return order?.kind === "exit" && order.exit === exit.id;
    });
    holder.children[i].setAttribute("aria-pressed", String(chosen));
  });
}

/**
 * @param {Episode} episode
 * @param {Episode} before
 */
function notices(episode, before) {
  if (episode.phase === "stopped" && before.phase !== "stopped") {
    if (episode.halted) showNotice(`${episode.why} It takes no more steps.`);
    else if (episode.takeOver) showNotice(`${episode.why} Nothing is lost.`, "Play here", () => line.takeOver());
    else showNotice(`${episode.why} Nothing is lost.`, "Try again", () => line.takeOver());
  } else if (episode.phase === "reconnecting" && before.phase !== "reconnecting") {
    showNotice(`${episode.why} Step ${episode.view?.step ?? 0} is saved and your orders are kept.`);
  } else if (episode.phase === "live" && before.phase !== "live") {
    if (episode.role === "player") showNotice("");
    else showNotice("You are not signed in as the player of this game any more; it goes on as you left it.", "Reload", () => location.reload());
  }
  if (episode.ack && episode.ack !== before.ack) ackNotice(episode.ack);
  if (episode.notice && episode.notice !== before.notice) showNotice(episode.notice.message);
}

/** @param {import("../lib/protocol.js").Frame} ack */
function ackNotice(ack) {
  if (ack.result === "stale") {
    showNotice(`Step ${ack.step} was already played, perhaps in another window. The board shows step ${ack.now}; your orders are kept.`);
  } else if (ack.result === "rejected") showNotice(`${ack.message ?? "The step was refused."} (${ack.code ?? "rejected"})`);
}

/**
 * Say what a step did, for those who cannot see the board.
 * @param {import("../lib/view.js").View|null} before
 * @param {import("../lib/view.js").View} after
 */
function speak(before, after) {
  if (!before || after.step !== before.step + 1) return;
  const was = new Map(before.people.map((person) => [person.id, person.status]));
  const news = after.people.filter((person) => person.status !== was.get(person.id));
  const words = news.map((person) => `${person.id} ${person.status === "evacuated" ? "is out" : "is lost"}`);
  write("spoken", `Step ${after.step}. ${words.join(", ") || "Nobody left"}. ${game.active.length} inside.`);
}

/** @param {string|null} id */
function speakPerson(id) {
  const flag = game.flags.find((one) => one.id === id);
  const person = game.active.find((one) => one.id === id);
  if (person) write("spoken", `${id}, row ${person.row}, column ${person.col}${flag ? `, ${flag.text}` : ""}`);
}
