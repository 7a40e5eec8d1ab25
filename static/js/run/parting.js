// @ts-check
// The step at which a record and its replay part, on two boards: what the record claims, what the rules give.

import { mountBoard } from "../board.js";
import { claimedView, cropAround, partingGhosts } from "../lib/replay.js";
import { describeView, viewFromTrack } from "../lib/view.js";

/** @typedef {import("../lib/view.js").Track & {parting?: import("../lib/replay.js").Parting | null}} PartingTrack */

const MOST = { rows: 11, cols: 13 };
const HEIGHT = 360;

/**
 * Draw both sides into the section of the page; without a parting the section keeps its words alone.
 * @param {PartingTrack} track
 * @param {HTMLElement} section
 */
export function showParting(track, section) {
  const { parting } = track;
  const sides = section.querySelector("[data-sides]");
  if (!parting || parting.moment === "none" || !(sides instanceof HTMLElement)) return;
  const atStart = parting.moment === "start";
  const replay = viewFromTrack(track, atStart ? parting.step - 1 : parting.step);
  const record = atStart ? replay : claimedView(replay, parting);
  const [row, col] = parting.focus[0] ?? [Math.floor(track.height / 2), Math.floor(track.width / 2)];
  const crop = cropAround(track, { row, col }, MOST);
  const moment = atStart ? `start of step ${parting.step}` : `end of step ${parting.step}`;
  for (const element of section.querySelectorAll("[data-moment]")) element.textContent = moment;
  sides.hidden = false;
  for (const [name, view] of /** @type {const} */ ([["record", record], ["replay", replay]])) {
    const canvas = section.querySelector(`[data-side=${name}]`);
    if (!(canvas instanceof HTMLCanvasElement)) continue;
    canvas.setAttribute("aria-label", `What the ${name} says. ${describeView(view)}`);
    mountBoard(canvas, {
      view,
      crop,
      ids: true,
      selected: new Set(parting.selected),
      ghost: atStart ? partingGhosts(parting, name) : null,
      target: atStart || parting.selected.length ? null : { row, col },
      maxHeight: HEIGHT,
    });
  }
}
