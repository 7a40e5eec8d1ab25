// @ts-check
/*
 * The one drawing of a scenario, at every size from a thumbnail to a full page.
 *
 *   const board = mountBoard(canvas, { view, labels: true });
 *   board.set({ view: next, selected: new Set(["P001"]) });   // changes only what is given
 *   board.cellAt(event)                // {row, col} under a pointer event, or null
 *   board.cellBox({ row, col })        // {x, y, size} of a cell in CSS pixels of the canvas
 *   board.layout                       // the present Layout (lib/geometry.js), or null
 *   board.destroy();
 *
 * The canvas takes the width of its parent and redraws when that, the theme, the fonts or the
 * pixel ratio change; the caller keeps its aria-label (describeView() of lib/view.js makes one).
 * Views come from lib/view.js: viewFromScenario, viewFromObservation, applyDelta, viewFromTrack.
 *
 * Options, all but view optional:
 *   view        View
 *   labels      exit names with the count of people who left there, beside the plan
 *   ids         numbers on people, where cells are at least 22 px
 *   selected    Set of person IDs: a ring
 *   dim         fade everyone who is not selected
 *   flags       Set of person IDs that need a look: a square
 *   trapped     Set of person IDs that cannot get out any more: corners
 *   ghost       Map of person ID -> {action: "north"…, prediction: "moved" | "blocked_conflict" | …}
 *   target      {row, col}: ember corners around the cell that is aimed at
 *   box         {from: {row, col}, to: {row, col}}: a selection being dragged
 *   arrows      [{row, col, direction: "north"…}]: arrows painted on the ground
 *   paths       [{cells: [[row, col]…], tone?: "active" | "select" | "warn" | "evac", alpha?, width?, dash?}]
 *   field       {values: Float32Array (0 to 1 a cell, row-major), tone?: "active" | "wait"}: density, waiting
 *   arrival     {steps: Int32Array (row-major, -1 never), horizon}: shade by how soon a cell burns
 *   numbers     write the steps of `arrival` into the cells
 *   ticks       false: no tick for people who left in this step (default true)
 *   crop        {row, col, rows, cols}: show only this part
 *   maxWidth, maxHeight   pixels, or a function that gives them when laying out
 *   maxCell     largest side of a cell in pixels (56)
 */

import { cellAtPoint, cellCorner, planLayout } from "./lib/geometry.js";
import { draw, drawGround, drawWalls } from "./draw/plan.js";
import { readTheme } from "./draw/theme.js";

/** @typedef {import("./lib/view.js").View} View */
/** @typedef {import("./lib/geometry.js").Layout} Layout */
/** @typedef {import("./draw/plan.js").DrawOptions} DrawOptions */
/** @typedef {import("./draw/theme.js").Theme} Theme */
/** @typedef {number | (() => number)} Size */
/** @typedef {DrawOptions & {view: View, maxWidth?: Size, maxHeight?: Size, maxCell?: number}} BoardOptions */
/**
 * @typedef {object} Board
 * @property {(options: Partial<BoardOptions>) => void} set
 * @property {() => void} destroy
 * @property {(event: {clientX: number, clientY: number}) => {row: number, col: number} | null} cellAt
 * @property {(cell: {row: number, col: number}) => {x: number, y: number, size: number} | null} cellBox
 * @property {Layout | null} layout
 */

/** Most pixels a canvas may have: phones refuse larger ones. */
const MAX_PIXELS = 16_000_000;

/** What draws each board anew. @type {Set<() => void>} */
const boards = new Set();
/** @type {Theme | null} */
let theme = null;

function themeChanged() {
  theme = null;
  redrawAll();
}

function redrawAll() {
  for (const redraw of boards) redraw();
}

/** A window that moves to another screen may change its pixel ratio and keep its size: no resize tells of that. */
function watchRatio() {
  const present = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const changed = () => {
    redrawAll();
    watchRatio();
  };
  present.addEventListener("change", changed, { once: true });
}

function watchTheme() {
  const root = document.documentElement;
  new MutationObserver(themeChanged).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  void document.fonts?.ready.then(themeChanged);
  watchRatio();
}

let watching = false;

/**
 * Draw a view on a canvas and keep the drawing right.
 * @param {HTMLCanvasElement} canvas
 * @param {BoardOptions} given
 * @returns {Board}
 */
export function mountBoard(canvas, given) {
  if (!watching) watchTheme();
  watching = true;
  let current = { ...given };
  /** @type {Layout | null} */
  let layout = null;
  let frame = 0;
  const layers = new GroundLayers();

  const render = () => {
    frame = 0;
    theme ??= readTheme();
    const ratio = window.devicePixelRatio || 1;
    const { maxWidth, maxHeight, ...options } = current;
    const next = planLayout(options.view, {
      ...options,
      maxWidth: sizeOf(maxWidth, canvas.parentElement?.clientWidth || 300),
      maxHeight: sizeOf(maxHeight, Infinity),
    });
    const scale = Math.min(ratio, Math.sqrt(MAX_PIXELS / Math.max(1, next.width * next.height)));
    fitCanvas(canvas, next, scale);
    layout = next;
    const ctx = canvas.getContext("2d");
    if (!ctx) return;
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, next.width, next.height);
    const { view } = options;
    draw(ctx, view, theme, { ...options, layout: next, layers: layers.get(view, next, theme, scale) });
  };
  const schedule = () => {
    frame ||= requestAnimationFrame(render);
  };

  const observer = new ResizeObserver(schedule);
  if (canvas.parentElement) observer.observe(canvas.parentElement);
  addEventListener("resize", schedule);
  boards.add(schedule);
  render();

  return {
    get layout() {
      return layout;
    },
    set(changes) {
      current = { ...current, ...changes };
      schedule();
    },
    destroy() {
      cancelAnimationFrame(frame);
      observer.disconnect();
      removeEventListener("resize", schedule);
      boards.delete(schedule);
    },
    cellAt(event) {
      if (!layout) return null;
      const box = canvas.getBoundingClientRect();
      const zoom = box.width ? layout.width / box.width : 1;
      return cellAtPoint(layout, (event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom);
    },
    cellBox({ row, col }) {
      if (!layout) return null;
      const [x, y] = cellCorner(layout, row, col);
      return { x, y, size: layout.cell };
    },
  };
}

/**
 * @param {Size | undefined} size
 * @param {number} otherwise
 */
function sizeOf(size, otherwise) {
  const value = typeof size === "function" ? size() : size;
  return value && value > 0 ? value : otherwise;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Layout} layout
 * @param {number} scale
 */
function fitCanvas(canvas, layout, scale) {
  const width = Math.round(layout.width * scale);
  const height = Math.round(layout.height * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  canvas.style.width = `${layout.width}px`;
  canvas.style.height = `${layout.height}px`;
}

/** Floor and walls do not change from step to step: drawn once, then copied. */
class GroundLayers {
  constructor() {
    /** @type {{ground: HTMLCanvasElement, walls: HTMLCanvasElement} | null} */
    this.layers = null;
    /** @type {unknown[]} */
    this.key = [];
  }

  /**
   * @param {View} view
   * @param {Layout} layout
   * @param {Theme} colours
   * @param {number} scale
   */
  get(view, layout, colours, scale) {
    const { cell, left, top, width, height, crop } = layout;
    const key = [view.walls, view.exits.length, colours, scale, cell, left, top, width, height];
    key.push(crop.row, crop.col, crop.rows, crop.cols);
    if (!this.layers || key.some((part, i) => part !== this.key[i])) {
      const paint = (/** @type {typeof drawGround} */ drawLayer) => {
        const canvas = document.createElement("canvas");
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        const ctx = canvas.getContext("2d");
        if (ctx) {
          ctx.setTransform(scale, 0, 0, scale, 0, 0);
          drawLayer(ctx, view, colours, layout);
        }
        return canvas;
      };
      this.layers = { ground: paint(drawGround), walls: paint(drawWalls) };
      this.key = key;
    }
    return this.layers;
  }
}
