// @ts-check
// Mouse and touch on the board: select people, drag a box, aim at cells.

import { peopleInBox } from "../lib/geometry.js";

/** @typedef {import("../board.js").Board} Board */
/** @typedef {import("../lib/game.js").Game} Game */
/** @typedef {{row: number, col: number}} Cell */

const DRAG_PX = 6;
/** On cells smaller than a finger the nearest person within one cell is meant. */
const FINGER_PX = 26;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Board} board
 * @param {Game} game
 * @param {{redraw: () => void, aim: (cell: Cell) => void, usable: () => boolean}} page
 */
export function bindPointer(canvas, board, game, page) {
  /** @type {{x: number, y: number, cell: Cell|null, box: boolean}|null} */
  let down = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    down = { x: event.clientX, y: event.clientY, cell: board.cellAt(event), box: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down || !down.cell || event.pointerType === "touch") return;
    if (!event.buttons) return forget(); // let go beside the board, which did not hear of it
    if (!down.box && Math.hypot(event.clientX - down.x, event.clientY - down.y) < DRAG_PX) return;
    if (!down.box) canvas.setPointerCapture(event.pointerId);
    down.box = true;
    const to = board.cellAt(event);
    if (to) board.set({ box: { from: down.cell, to } });
  });
  canvas.addEventListener("pointerup", (event) => {
    const start = down;
    forget();
    if (!start || !page.usable()) return;
    if (start.box && start.cell) boxSelect(start.cell, board.cellAt(event) ?? start.cell, event.shiftKey);
    else click(event);
    page.redraw();
  });
  canvas.addEventListener("pointercancel", forget);

  function forget() {
    down = null;
    board.set({ box: undefined });
  }

  /**
   * @param {Cell} from
   * @param {Cell} to
   * @param {boolean} add
   */
  function boxSelect(from, to, add) {
    const inside = game.view ? peopleInBox(game.view, from, to) : [];
    game.select([...(add ? game.selected : []), ...inside.map(({ id }) => id)]);
  }

  /** @param {PointerEvent} event */
  function click(event) {
    const cell = board.cellAt(event);
    if (!cell) return;
    const person = personAt(cell, event.pointerType === "touch");
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    if (person && add) game.toggle(person);
    else if (person && game.selected.size === 1 && game.selected.has(person) && game.active.length > 1) game.select([]);
    else if (person) game.select([person]);
    else page.aim(cell);
  }

  /**
   * @param {Cell} cell
   * @param {boolean} finger
   * @returns {string|null}
   */
  function personAt(cell, finger) {
    const exact = game.active.find(({ row, col }) => row === cell.row && col === cell.col);
    if (exact) return exact.id;
    const size = board.cellBox(cell)?.size ?? 0;
    if (!finger || size >= FINGER_PX || game.selected.size) return null;
    const near = game.active.find(({ row, col }) => Math.abs(row - cell.row) <= 1 && Math.abs(col - cell.col) <= 1);
    return near ? near.id : null;
  }
}
