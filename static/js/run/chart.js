// @ts-check
// The small chart under a replay: three curves over the steps and the playhead; also a scrubber.

import { linePath, spreadLabels } from "../lib/replay.js";

/** @typedef {import("../lib/view.js").Track} Track */
/** @typedef {import("../lib/replay.js").Curves} Curves */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 150;
const LEFT = 34;
const RIGHT = 84;
const TOP = 10;
const BASE = 118;
const MARKS = 134;

/** What is drawn only once for a width. @type {WeakMap<SVGSVGElement, {width: number, x: (step: number) => number, y: (n: number) => number}>} */
const drawn = new WeakMap();

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function make(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Draw the chart with its playhead at a step. The curves are made again only when the width changes.
 * @param {SVGSVGElement} svg
 * @param {Track} track
 * @param {Curves} curves
 * @param {number} step
 */
export function drawChart(svg, track, curves, step) {
  const width = Math.max(240, svg.parentElement?.clientWidth ?? 600) - 32;
  let scale = drawn.get(svg);
  if (!scale || scale.width !== width) {
    scale = drawGround(svg, track, curves, width);
    drawn.set(svg, scale);
  }
  const { x, y } = scale;
  const head = make("g", { class: "playhead" });
  head.append(
    make("path", { d: `M${x(step)} 2V${HEIGHT - 6}`, class: "head-line" }),
    make("path", { d: `M${x(step) - 6} 0H${x(step) + 6}L${x(step)} 8Z`, class: "head-mark" }),
  );
  for (const kind of /** @type {const} */ (["inside", "out", "lost"])) {
    head.append(make("circle", { cx: x(step), cy: y(curves[kind][step]), r: 4, class: `dot ${kind}` }));
  }
  svg.querySelector(".playhead")?.remove();
  svg.append(head);
}

/**
 * @param {SVGSVGElement} svg
 * @param {Track} track
 * @param {Curves} curves
 * @param {number} width
 */
function drawGround(svg, track, curves, width) {
  const people = Math.max(1, track.people.length);
  const steps = Math.max(1, track.steps);
  const x = (/** @type {number} */ step) => LEFT + ((width - LEFT - RIGHT) * step) / steps;
  const y = (/** @type {number} */ count) => TOP + (BASE - TOP) * (1 - count / people);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren();
  for (const count of people > 1 ? [0, Math.floor(people / 2), people] : [0, 1]) {
    svg.append(
      make("path", { d: `M${LEFT} ${y(count)}H${width - RIGHT}`, class: count ? "axis" : "axis base" }),
      make("text", { x: LEFT - 7, y: y(count) + 4, "text-anchor": "end" }, String(count)),
    );
  }
  for (const kind of /** @type {const} */ (["inside", "out", "lost"])) {
    svg.append(make("path", { d: linePath(curves[kind], x, y), class: `curve ${kind}` }));
  }
  drawLabels(svg, curves, x(track.steps) + 8, y);
  drawMarks(svg, curves, x);
  return { width, x, y };
}

/**
 * The final counts beside the ends of their curves.
 * @param {SVGSVGElement} svg
 * @param {Curves} curves
 * @param {number} left
 * @param {(n: number) => number} y
 */
function drawLabels(svg, curves, left, y) {
  const kinds = /** @type {const} */ (["out", "inside", "lost"]);
  const counts = kinds.map((kind) => curves[kind][curves[kind].length - 1]);
  const heights = spreadLabels(counts.map((count) => y(count) + 4), 14, BASE + 4);
  kinds.forEach((kind, i) => {
    svg.append(make("text", { x: left, y: heights[i], class: `end-label ${kind}` }, `${counts[i]} ${kind}`));
  });
}

/**
 * A tick for each step in which somebody got out, a cross for each in which somebody was lost.
 * @param {SVGSVGElement} svg
 * @param {Curves} curves
 * @param {(step: number) => number} x
 */
function drawMarks(svg, curves, x) {
  let ticks = "";
  let crosses = "";
  for (let step = 1; step < curves.out.length; step++) {
    if (curves.out[step] > curves.out[step - 1]) ticks += `M${x(step).toFixed(1)} ${MARKS}v-7`;
    if (curves.lost[step] > curves.lost[step - 1]) {
      const at = x(step);
      crosses += `M${(at - 3).toFixed(1)} ${MARKS + 5}l6 6m0 -6l-6 6`;
    }
  }
  svg.append(make("path", { d: ticks, class: "ticks" }), make("path", { d: crosses, class: "crosses" }));
}

/**
 * The step under a pointer.
 * @param {SVGSVGElement} svg
 * @param {number} clientX
 * @param {number} steps
 */
export function stepAtChart(svg, clientX, steps) {
  const box = svg.getBoundingClientRect();
  const width = svg.viewBox.baseVal.width;
  const at = ((clientX - box.left) / box.width) * width;
  return Math.round((Math.max(0, Math.min(1, (at - LEFT) / (width - LEFT - RIGHT)))) * steps);
}
