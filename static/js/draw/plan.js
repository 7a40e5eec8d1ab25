// @ts-check
// The plan from the ground up. draw() depends on its arguments alone.

import { eachRun, exitSide, isWall, opensOutside, planLayout } from "../lib/geometry.js";
import { isBurning } from "../lib/view.js";
import { drawArrival, drawArrows, drawField, drawNumbers, drawPaths } from "./overlays.js";
import { drawBox, drawGhosts, drawNames, drawPeople, drawTarget } from "./people.js";
import { drawRaster } from "./raster.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {import("../lib/view.js").Cell} Cell */
/** @typedef {import("../lib/view.js").Exit} Exit */
/** @typedef {import("../lib/geometry.js").Layout} Layout */
/** @typedef {import("../lib/geometry.js").Crop} Crop */
/** @typedef {import("./theme.js").Theme} Theme */
/** @typedef {CanvasRenderingContext2D} Ctx */
/** @typedef {"active" | "select" | "warn" | "evac" | "wait"} Tone */
/** @typedef {{cells: Cell[], tone?: Tone, alpha?: number, width?: number, dash?: number[]}} Path */
/** @typedef {{row: number, col: number}} Place */
/**
 * @typedef {object} DrawOptions see ../board.js
 * @property {boolean} [labels]
 * @property {boolean} [ids]
 * @property {Set<string>} [selected]
 * @property {boolean} [dim]
 * @property {Set<string>} [flags]
 * @property {Set<string>} [trapped]
 * @property {Map<string, {action: string, prediction: string}> | null} [ghost]
 * @property {Place | null} [target]
 * @property {{from: Place, to: Place} | null} [box]
 * @property {{row: number, col: number, direction: string}[]} [arrows]
 * @property {Path[]} [paths]
 * @property {{values: Float32Array, tone?: Tone} | null} [field]
 * @property {{steps: Int32Array, horizon: number} | null} [arrival]
 * @property {boolean} [numbers]
 * @property {boolean} [ticks]
 * @property {Crop | null} [crop]
 */
/** @typedef {{ground: CanvasImageSource, walls: CanvasImageSource}} Layers */

/** Below this size a cell is a dot of an image, not a drawing. */
const SMALLEST_DRAWN_CELL = 3;

/**
 * Draw one view.
 * @param {Ctx} ctx scaled so that one unit is one CSS pixel
 * @param {View} view
 * @param {Theme} theme
 * @param {DrawOptions & {layout?: Layout, layers?: Layers | null, maxWidth?: number}} [options]
 *   layout: where to draw, else fitted into maxWidth; layers: floor and walls drawn before
 */
export function draw(ctx, view, theme, options = {}) {
  const layout = options.layout ?? planLayout(view, { ...options, maxWidth: options.maxWidth ?? 600 });
  const pen = new Pen(ctx, view, theme, layout);
  if (layout.cell < SMALLEST_DRAWN_CELL) {
    drawRaster(pen);
  } else {
    copyLayer(pen, options.layers?.ground, drawGround);
    if (options.field) drawField(pen, options.field);
    if (options.arrival) drawArrival(pen, options.arrival);
    drawFire(pen);
    if (options.arrival && options.numbers) drawNumbers(pen, options.arrival);
    copyLayer(pen, options.layers?.walls, drawWalls);
  }
  for (const exit of view.exits) drawExit(pen, exit, Boolean(options.labels));
  if (options.arrows) drawArrows(pen, options.arrows);
  if (options.paths) drawPaths(pen, options.paths);
  drawPeople(pen, options);
  if (options.ghost) drawGhosts(pen, options.ghost, options.selected);
  if (options.ids) drawNames(pen);
  if (options.box) drawBox(pen, options.box);
  if (options.target) drawTarget(pen, options.target);
}

/** What every part of the drawing needs: context, view, colours and places. */
export class Pen {
  /**
   * @param {Ctx} ctx
   * @param {View} view
   * @param {Theme} theme
   * @param {Layout} layout
   */
  constructor(ctx, view, theme, layout) {
    this.ctx = ctx;
    this.view = view;
    this.theme = theme;
    this.layout = layout;
    this.size = layout.cell;
  }

  /** @param {number} col */
  x(col) {
    return this.layout.left + (col - this.layout.crop.col) * this.size;
  }

  /** @param {number} row */
  y(row) {
    return this.layout.top + (row - this.layout.crop.row) * this.size;
  }

  /**
   * @param {number} row
   * @param {number} col
   */
  shows(row, col) {
    const { crop } = this.layout;
    return row >= crop.row && col >= crop.col && row < crop.row + crop.rows && col < crop.col + crop.cols;
  }

  /**
   * @param {number} row
   * @param {number} col
   */
  isWall(row, col) {
    return isWall(this.view, row, col);
  }

  /**
   * @param {number} row
   * @param {number} col
   */
  burns(row, col) {
    const { width, height } = this.view;
    return row >= 0 && col >= 0 && row < height && col < width && isBurning(this.view, row * width + col);
  }

  /**
   * Add the shown cells that pass a test to the path, runs of a row as one rectangle.
   * @param {(row: number, col: number) => boolean} test
   */
  addCells(test) {
    const { row: top, col: left, rows, cols } = this.layout.crop;
    let any = false;
    eachRun(
      rows,
      cols,
      (r, c) => test(r + top, c + left),
      (r, first, last) => {
        this.ctx.rect(this.x(first + left), this.y(r + top), (last - first) * this.size, this.size);
        any = true;
      },
    );
    return any;
  }

  /**
   * Add the edges between two cells that pass a test to the path, straight runs as one line.
   * @param {(row: number, col: number, toRow: number, toCol: number) => boolean} test asked once
   *   for each pair: the cell above and below, or left and right, of the edge
   */
  addEdges(test) {
    const { row: top, col: left, rows, cols } = this.layout.crop;
    const { ctx } = this;
    eachRun(
      rows + 1,
      cols,
      (r, c) => test(r + top - 1, c + left, r + top, c + left),
      (r, first, last) => {
        ctx.moveTo(this.x(first + left), this.y(r + top));
        ctx.lineTo(this.x(last + left), this.y(r + top));
      },
    );
    eachRun(
      cols + 1,
      rows,
      (c, r) => test(r + top, c + left - 1, r + top, c + left),
      (c, first, last) => {
        ctx.moveTo(this.x(c + left), this.y(first + top));
        ctx.lineTo(this.x(c + left), this.y(last + top));
      },
    );
  }
}

/**
 * @param {Pen} pen
 * @param {CanvasImageSource | undefined} layer
 * @param {(ctx: Ctx, view: View, theme: Theme, layout: Layout) => void} otherwise
 */
function copyLayer(pen, layer, otherwise) {
  const { ctx, layout } = pen;
  if (layer) ctx.drawImage(layer, 0, 0, layout.width, layout.height);
  else otherwise(ctx, pen.view, pen.theme, layout);
}

/**
 * Floor with its grid.
 * @param {Ctx} ctx
 * @param {View} view
 * @param {Theme} theme
 * @param {Layout} layout
 */
export function drawGround(ctx, view, theme, layout) {
  const pen = new Pen(ctx, view, theme, layout);
  if (pen.size < SMALLEST_DRAWN_CELL) return;
  ctx.fillStyle = theme.floor;
  ctx.beginPath();
  pen.addCells((row, col) => !pen.isWall(row, col));
  ctx.fill();
  if (pen.size < 10) return;
  ctx.save();
  ctx.translate(-0.5, -0.5);
  ctx.strokeStyle = theme.grid;
  ctx.lineWidth = 1;
  ctx.beginPath();
  pen.addEdges((r, c, r2, c2) => !pen.isWall(r, c) && !pen.isWall(r2, c2));
  ctx.stroke();
  ctx.restore();
}

/**
 * Walls: a grey mass, and a dark edge where it meets floor. An exit stays open to the outside.
 * @param {Ctx} ctx
 * @param {View} view
 * @param {Theme} theme
 * @param {Layout} layout
 */
export function drawWalls(ctx, view, theme, layout) {
  const pen = new Pen(ctx, view, theme, layout);
  const z = pen.size;
  if (z < SMALLEST_DRAWN_CELL) return;
  ctx.fillStyle = theme.wall;
  ctx.beginPath();
  pen.addCells((row, col) => pen.isWall(row, col));
  ctx.fill();
  const doors = new Set(view.exits.map((exit) => `${exit.row},${exit.col},${exitSide(view, exit)}`));
  const open = (/** @type {number} */ r, /** @type {number} */ c, /** @type {string} */ side) => doors.has(`${r},${c},${side}`);
  ctx.save();
  if (z < 10) ctx.translate(0.5, 0.5);
  ctx.lineCap = "square";
  ctx.strokeStyle = theme.wallEdge;
  ctx.lineWidth = z >= 20 ? 2 : z >= 10 ? 1.5 : 1;
  ctx.beginPath();
  pen.addEdges((r, c, r2, c2) => {
    if (pen.isWall(r, c) === pen.isWall(r2, c2)) return false;
    if (r === r2) return !open(r, c, "east") && !open(r2, c2, "west");
    return !open(r, c, "south") && !open(r2, c2, "north");
  });
  ctx.stroke();
  ctx.restore();
}

/**
 * Fire: new and old cells in two tints, hatched, with a hard line where it can go on.
 * @param {Pen} pen
 */
function drawFire(pen) {
  const { ctx, view, theme, layout, size: z } = pen;
  const age = (/** @type {number} */ row, /** @type {number} */ col) => view.step - view.burn[row * view.width + col];
  ctx.fillStyle = theme.fireOld;
  ctx.beginPath();
  const old = pen.addCells((row, col) => pen.burns(row, col) && age(row, col) >= view.spreadInterval);
  ctx.fill();
  ctx.fillStyle = theme.fireNew;
  ctx.beginPath();
  const fresh = pen.addCells((row, col) => pen.burns(row, col) && age(row, col) < view.spreadInterval);
  ctx.fill();
  if (!old && !fresh) return;

  ctx.save();
  ctx.beginPath();
  pen.addCells((row, col) => pen.burns(row, col));
  ctx.clip();
  ctx.strokeStyle = theme.hatch;
  ctx.globalAlpha = 0.5;
  ctx.lineWidth = Math.max(0.7, z / 26);
  const gap = z >= 14 ? z / 4 : Math.max(2.5, z / 2);
  const { width, height, left, top } = layout;
  ctx.beginPath();
  for (let d = -height; d < width; d += gap) {
    ctx.moveTo(left + d, top + height);
    ctx.lineTo(left + d + height, top);
  }
  ctx.stroke();
  ctx.restore();

  ctx.strokeStyle = theme.front;
  ctx.lineWidth = z >= 12 ? 2 : 1.25;
  ctx.lineCap = "square";
  ctx.beginPath();
  pen.addEdges(
    (r, c, r2, c2) => pen.burns(r, c) !== pen.burns(r2, c2) && !pen.isWall(r, c) && !pen.isWall(r2, c2),
  );
  ctx.stroke();
  ctx.lineCap = "butt";
}

const QUARTER_TURNS = { west: 0, north: 1, east: 2, south: 3 };

/**
 * An exit: a door from above, with threshold, open leaf and swing; crossed out when it burns.
 * @param {Pen} pen
 * @param {Exit} exit
 * @param {boolean} labelled
 */
function drawExit(pen, exit, labelled) {
  const { ctx, theme, size: z } = pen;
  if (!pen.shows(exit.row, exit.col)) return;
  const [x, y] = [pen.x(exit.col), pen.y(exit.row)];
  const lost = pen.burns(exit.row, exit.col);
  if (!lost) {
    ctx.fillStyle = theme.doorFill;
    ctx.fillRect(x, y, z, z);
  }
  const half = z / 2;
  const bold = Math.max(Math.min(2, z / 2), z / 8);
  ctx.save();
  ctx.translate(x + half, y + half);
  ctx.rotate((QUARTER_TURNS[exitSide(pen.view, exit)] * Math.PI) / 2);
  ctx.strokeStyle = lost ? theme.front : theme.door;
  ctx.lineWidth = bold;
  line(ctx, -half + bold / 2, -half, -half + bold / 2, half);
  if (z >= 8) {
    ctx.lineWidth = Math.max(1, z / 16);
    line(ctx, -half, -half + 1, half - 1, -half + 1);
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.arc(-half, -half, z - 1, 0, Math.PI / 2);
    ctx.stroke();
  }
  ctx.restore();
  if (lost) {
    ctx.strokeStyle = theme.casualty;
    ctx.lineWidth = Math.max(1.2, z / 12);
    line(ctx, x + z * 0.25, y + z * 0.25, x + z * 0.75, y + z * 0.75);
    line(ctx, x + z * 0.75, y + z * 0.25, x + z * 0.25, y + z * 0.75);
  }
  if (labelled) drawExitLabel(pen, exit, lost);
}

/**
 * @param {Ctx} ctx
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
export function line(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

/**
 * The exit's name, and how many left there or that it is lost. Outside the plan, or with a
 * halo above an exit that lies within it.
 * @param {Pen} pen
 * @param {Exit} exit
 * @param {boolean} lost
 */
function drawExitLabel(pen, exit, lost) {
  const { ctx, view, theme, size: z, layout } = pen;
  const out = view.people.filter(
    (p) => p.status === "evacuated" && p.row === exit.row && p.col === exit.col,
  ).length;
  const name = exit.id.length > 8 ? `${exit.id.slice(0, 7)}…` : exit.id;
  const state = lost ? "lost" : view.step > 0 ? `✓${out}` : "";
  const px = Math.max(10, Math.min(13, z * 0.5));
  const side = opensOutside(view, exit) ? exitSide(view, exit) : null;
  const [x, y] = [pen.x(exit.col), pen.y(exit.row)];
  ctx.fillStyle = lost ? theme.emberInk : theme.evacInk;
  ctx.textBaseline = "middle";
  ctx.font = `600 ${px}px ${theme.font}`;
  if (side === "west" || side === "east") {
    ctx.textAlign = side === "west" ? "right" : "left";
    const at = side === "west" ? x - z * 0.2 - 2 : x + z * 1.2 + 2;
    const middle = y + z / 2;
    ctx.fillText(name, at, middle - (state ? px * 0.55 : 0));
    if (state) ctx.fillText(state, at, middle + px * 0.6);
    return;
  }
  const text = state ? `${name}  ${state}` : name;
  const nearRight = x > layout.width - 64;
  ctx.textAlign = nearRight ? "right" : "left";
  const at = nearRight ? x + z : x;
  const line1 = side === "south" ? y + z + px * 0.85 : y - px * 0.75;
  if (!side) {
    ctx.strokeStyle = theme.halo;
    ctx.lineWidth = 3;
    ctx.strokeText(text, at, line1);
  }
  ctx.fillText(text, at, line1);
}
