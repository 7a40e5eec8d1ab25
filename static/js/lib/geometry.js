// @ts-check
// Where things of a plan stand: cells, sides of exits, fitting into a box. Pure; runs under node.

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Exit} Exit */
/** @typedef {{row: number, col: number, rows: number, cols: number}} Crop a part of the grid */
/**
 * @typedef {object} Layout
 * @property {number} cell side of a cell in CSS pixels
 * @property {number} left x of the left edge of the first column shown
 * @property {number} top y of the upper edge of the first row shown
 * @property {number} width of the drawing, labels included
 * @property {number} height
 * @property {Crop} crop what is shown
 */
/** @typedef {"west" | "north" | "east" | "south"} Side */

const SIDE_LABEL_PX = 32;
const TOP_LABEL_PX = 19;
const SIDE_LABEL_CELLS = 0.28;

/** @type {[Side, number, number][]} side, and the step from a cell towards it */
const OUTWARD = [
  ["west", 0, -1],
  ["north", -1, 0],
  ["east", 0, 1],
  ["south", 1, 0],
];

/**
 * Whether nothing can stand on a cell: a wall or off the grid.
 * @param {Pick<View, "width" | "height" | "walls">} view
 * @param {number} row
 * @param {number} col
 */
export function isWall(view, row, col) {
  return row < 0 || col < 0 || row >= view.height || col >= view.width || view.walls[row * view.width + col] === 1;
}

/**
 * @param {Pick<View, "width" | "height">} view
 * @param {{row: number, col: number}} cell
 * @param {Side} side
 */
function onBorder(view, { row, col }, side) {
  if (side === "west") return col === 0;
  if (side === "north") return row === 0;
  if (side === "east") return col === view.width - 1;
  return row === view.height - 1;
}

/**
 * The side that an exit leads out to: a border of the grid with room opposite, else a wall
 * with room opposite.
 * @param {Pick<View, "width" | "height" | "walls">} view
 * @param {{row: number, col: number}} exit
 * @returns {Side}
 */
export function exitSide(view, exit) {
  const roomOpposite = OUTWARD.filter(([, dr, dc]) => !isWall(view, exit.row - dr, exit.col - dc));
  const choice = roomOpposite.length ? roomOpposite : OUTWARD;
  const border = choice.find(([side]) => onBorder(view, exit, side));
  const walled = choice.find(([, dr, dc]) => isWall(view, exit.row + dr, exit.col + dc));
  return (border ?? walled ?? choice[0])[0];
}

/**
 * Whether the label of an exit stands outside the plan.
 * @param {Pick<View, "width" | "height" | "walls">} view
 * @param {{row: number, col: number}} exit
 */
export function opensOutside(view, exit) {
  return onBorder(view, exit, exitSide(view, exit));
}

/**
 * Fit a plan into a box.
 *
 * Cells are whole pixels from 7 up, quarters below, and as small as it takes for large grids.
 * @param {Pick<View, "width" | "height" | "walls" | "exits">} view
 * @param {{maxWidth: number, maxHeight?: number, maxCell?: number, labels?: boolean, crop?: Crop | null}} options
 * @returns {Layout}
 */
export function planLayout(view, { maxWidth, maxHeight = Infinity, maxCell = 56, labels = false, crop }) {
  const part = crop ?? { row: 0, col: 0, rows: view.height, cols: view.width };
  const sides = new Set(labels ? view.exits.filter((exit) => opensOutside(view, exit)).map((e) => exitSide(view, e)) : []);
  const across = Number(sides.has("west")) + Number(sides.has("east"));
  const along = Number(sides.has("north")) + Number(sides.has("south"));
  const byWidth = (maxWidth - across * SIDE_LABEL_PX) / (part.cols + across * SIDE_LABEL_CELLS);
  const byHeight = (maxHeight - along * TOP_LABEL_PX) / (part.rows + along * SIDE_LABEL_CELLS);
  const cell = wholeCell(Math.max(0.05, Math.min(byWidth, byHeight, maxCell)));
  const side = Math.ceil(SIDE_LABEL_PX + SIDE_LABEL_CELLS * cell);
  const end = Math.ceil(TOP_LABEL_PX + SIDE_LABEL_CELLS * cell);
  const left = sides.has("west") ? side : 0;
  const top = sides.has("north") ? end : 0;
  return {
    cell,
    left,
    top,
    width: left + cell * part.cols + (sides.has("east") ? side : 0),
    height: top + cell * part.rows + (sides.has("south") ? end : 0),
    crop: part,
  };
}

/** @param {number} size */
function wholeCell(size) {
  if (size >= 7) return Math.floor(size);
  return size >= 1 ? Math.floor(size * 4) / 4 : size;
}

/**
 * The cell under a point of the drawing, or null beside the plan.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {{row: number, col: number} | null}
 */
export function cellAtPoint(layout, x, y) {
  const row = Math.floor((y - layout.top) / layout.cell);
  const col = Math.floor((x - layout.left) / layout.cell);
  if (row < 0 || col < 0 || row >= layout.crop.rows || col >= layout.crop.cols) return null;
  return { row: row + layout.crop.row, col: col + layout.crop.col };
}

/**
 * The corner of a cell in the drawing.
 * @param {Layout} layout
 * @param {number} row
 * @param {number} col
 * @returns {[number, number]} x and y
 */
export function cellCorner(layout, row, col) {
  return [layout.left + (col - layout.crop.col) * layout.cell, layout.top + (row - layout.crop.row) * layout.cell];
}

/**
 * Call `emit(line, first, last)` for every longest run of neighbours that pass the test.
 * Cells of a run stand on one line (a row, or a column if the caller swaps the two).
 * @param {number} lines
 * @param {number} length
 * @param {(line: number, place: number) => boolean} test
 * @param {(line: number, first: number, last: number) => void} emit last is exclusive
 */
export function eachRun(lines, length, test, emit) {
  for (let line = 0; line < lines; line++) {
    let first = -1;
    for (let place = 0; place <= length; place++) {
      const inside = place < length && test(line, place);
      if (inside && first < 0) first = place;
      else if (!inside && first >= 0) {
        emit(line, first, place);
        first = -1;
      }
    }
  }
}

/**
 * People whose cell lies in the rectangle between two cells, both included.
 * @param {View} view
 * @param {{row: number, col: number}} a
 * @param {{row: number, col: number}} b
 */
export function peopleInBox(view, a, b) {
  const [top, bottom] = a.row < b.row ? [a.row, b.row] : [b.row, a.row];
  const [left, right] = a.col < b.col ? [a.col, b.col] : [b.col, a.col];
  return view.people.filter(
    (person) =>
      person.status === "active" &&
      person.row >= top &&
      person.row <= bottom &&
      person.col >= left &&
      person.col <= right,
  );
}
