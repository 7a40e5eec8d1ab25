// @ts-check
// How much room the board has on the page of a game.

/** What stands around the board on a desk: the legend and the padding. */
const AROUND_PX = 64;
const LEAST_PX = 280;
const DESK_FROM_PX = 900;

/**
 * The most height that the board may take now. On a desk the frame is as high as the window; on a narrow
 * page the rest of what should be in sight leaves it so much.
 * @param {HTMLElement} box around the board
 * @param {{least: number, rest: number}} narrow in pixels
 */
export function boardHeight(box, { least, rest }) {
  const frame = box.parentElement ?? box;
  if (innerWidth > DESK_FROM_PX) return Math.max(LEAST_PX, frame.clientHeight - AROUND_PX);
  return Math.max(least, innerHeight - rest);
}

/**
 * Fit the board again when something takes height from its frame, as a notice does. The box alone would not
 * tell: the canvas keeps it open.
 * @param {HTMLElement} box
 * @param {import("../board.js").Board} board
 */
export function refit(box, board) {
  new ResizeObserver(() => board.set({})).observe(box.parentElement ?? box);
}
