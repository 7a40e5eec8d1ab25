// @ts-check
// What can be laid over the floor: fields, fire arrival, numbers, arrows, paths.

import { DIRECTIONS } from "../lib/view.js";

/** @typedef {import("./plan.js").Pen} Pen */
/** @typedef {import("./plan.js").Path} Path */
/** @typedef {import("./plan.js").Tone} Tone */

/**
 * @param {Pen} pen
 * @param {Tone | undefined} tone
 */
function colourOf({ theme }, tone) {
  if (tone === "select") return theme.select;
  if (tone === "warn") return theme.warn;
  if (tone === "evac") return theme.evac;
  return tone === "wait" ? theme.waiting : theme.active;
}

/**
 * @param {Pen} pen
 * @param {(row: number, col: number, index: number) => void} visit every floor cell that is shown
 */
function eachFloor(pen, visit) {
  const { crop } = pen.layout;
  const { width, height } = pen.view;
  const bottom = Math.min(height, crop.row + crop.rows);
  const right = Math.min(width, crop.col + crop.cols);
  for (let row = Math.max(0, crop.row); row < bottom; row++) {
    for (let col = Math.max(0, crop.col); col < right; col++) {
      if (!pen.isWall(row, col)) visit(row, col, row * width + col);
    }
  }
}

/**
 * Shade cells by a share from 0 to 1.
 * @param {Pen} pen
 * @param {{values: Float32Array, tone?: Tone}} field
 */
export function drawField(pen, { values, tone }) {
  const { ctx, size: z } = pen;
  ctx.fillStyle = colourOf(pen, tone ?? "active");
  eachFloor(pen, (row, col, index) => {
    if (!(values[index] > 0)) return;
    ctx.globalAlpha = Math.min(0.6, values[index] * 0.6);
    ctx.fillRect(pen.x(col), pen.y(row), z, z);
  });
  ctx.globalAlpha = 1;
}

/**
 * Shade cells by how soon they burn; what burns within the horizon is tinted, the sooner the more.
 * @param {Pen} pen
 * @param {{steps: Int32Array, horizon: number}} arrival
 */
export function drawArrival(pen, { steps, horizon }) {
  const { ctx, view, theme, size: z } = pen;
  ctx.fillStyle = theme.fireNew;
  eachFloor(pen, (row, col, index) => {
    const wait = steps[index] - view.step;
    if (wait <= 0 || wait >= horizon || steps[index] < 0) return;
    ctx.globalAlpha = 0.62 * (1 - wait / horizon) ** 1.4;
    ctx.fillRect(pen.x(col), pen.y(row), z, z);
  });
  ctx.globalAlpha = 1;
}

/**
 * Write the steps into every second cell of the front, so that each front can be read.
 * @param {Pen} pen
 * @param {{steps: Int32Array}} arrival
 */
export function drawNumbers(pen, { steps }) {
  const { ctx, view, theme, size: z } = pen;
  if (z < 15) return;
  ctx.font = `450 ${z < 24 ? 9 : 11}px ${theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.quiet;
  eachFloor(pen, (row, col, index) => {
    const step = steps[index];
    if (step <= view.step || step % (view.spreadInterval * 2) !== 0) return;
    ctx.fillText(String(step), pen.x(col) + z / 2, pen.y(row) + z / 2 + 0.5);
  });
}

/**
 * Arrows painted on the ground.
 * @param {Pen} pen
 * @param {{row: number, col: number, direction: string}[]} arrows
 */
export function drawArrows(pen, arrows) {
  const { ctx, theme, size: z } = pen;
  ctx.strokeStyle = theme.arrow;
  ctx.lineWidth = Math.max(1.5, z / 11);
  for (const { row, col, direction } of arrows) {
    const ahead = DIRECTIONS[direction];
    if (!ahead || !pen.shows(row, col)) continue;
    ctx.save();
    ctx.translate(pen.x(col) + z / 2, pen.y(row) + z / 2);
    ctx.rotate(Math.atan2(ahead[0], ahead[1]));
    ctx.beginPath();
    ctx.moveTo(-z * 0.1, -z * 0.24);
    ctx.lineTo(z * 0.14, 0);
    ctx.lineTo(-z * 0.1, z * 0.24);
    ctx.stroke();
    ctx.restore();
  }
}

/**
 * Lines through the middles of cells: where people went, or will go.
 * @param {Pen} pen
 * @param {Path[]} paths
 */
export function drawPaths(pen, paths) {
  const { ctx, size: z } = pen;
  ctx.save();
  ctx.lineJoin = "round";
  for (const { cells, tone, alpha = 1, width = 2, dash = [] } of paths) {
    ctx.strokeStyle = colourOf(pen, tone);
    ctx.globalAlpha = alpha;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    cells.forEach(([row, col], i) => {
      if (i === 0) ctx.moveTo(pen.x(col) + z / 2, pen.y(row) + z / 2);
      else ctx.lineTo(pen.x(col) + z / 2, pen.y(row) + z / 2);
    });
    ctx.stroke();
  }
  ctx.restore();
}
