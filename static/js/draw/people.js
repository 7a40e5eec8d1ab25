// @ts-check
// People and what a player means them to do. Shape first, colour second.

import { DIRECTIONS } from "../lib/view.js";

/** @typedef {import("./plan.js").Pen} Pen */
/** @typedef {import("./plan.js").DrawOptions} DrawOptions */
/** @typedef {import("./plan.js").Place} Place */
/** @typedef {import("../lib/view.js").Person} Person */
/** @typedef {CanvasRenderingContext2D} Ctx */

/** Below this size of a cell only selected people show what they will try. */
const GHOST_FOR_ALL_FROM = 14;
const NUMBER_FROM = 22;

/** @param {Pen} pen */
function radius({ size }) {
  return size * (size >= 12 ? 0.33 : 0.4);
}

/**
 * Casualties first, so that nobody alive is covered.
 * @param {Pen} pen
 * @param {DrawOptions} options
 */
export function drawPeople(pen, options) {
  const { people, step } = pen.view;
  const shown = people.filter((person) => pen.shows(person.row, person.col));
  for (const person of shown) if (person.status === "casualty") drawCasualty(pen, person);
  for (const person of shown) if (person.status === "active") drawActive(pen, person, options);
  if (options.ticks === false || pen.size < 9) return;
  for (const person of shown) {
    if (person.status === "evacuated" && person.since === step && step > 0) drawTick(pen, person);
  }
}

/**
 * @param {Pen} pen
 * @param {Place} place
 * @returns {[number, number]}
 */
function middle(pen, { row, col }) {
  return [pen.x(col) + pen.size / 2, pen.y(row) + pen.size / 2];
}

/**
 * @param {Ctx} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function circle(ctx, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
}

/**
 * @param {Pen} pen
 * @param {Person} person
 */
function drawCasualty(pen, person) {
  const { ctx, theme, size: z } = pen;
  const [x, y] = middle(pen, person);
  const k = radius(pen) * 0.8;
  ctx.lineCap = "round";
  for (const [colour, width] of /** @type {[string, number][]} */ ([
    [theme.halo, z / 5 + 1.5],
    [theme.casualty, Math.max(1.4, z / 9)],
  ])) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x - k, y - k);
    ctx.lineTo(x + k, y + k);
    ctx.moveTo(x + k, y - k);
    ctx.lineTo(x - k, y + k);
    ctx.stroke();
  }
  ctx.lineCap = "butt";
}

/**
 * @param {Pen} pen
 * @param {Person} person
 * @param {DrawOptions} options
 */
function drawActive(pen, person, { selected, dim, flags, trapped }) {
  const { ctx, theme, size: z } = pen;
  const [x, y] = middle(pen, person);
  const r = radius(pen);
  const isSelected = Boolean(selected?.has(person.id));
  ctx.globalAlpha = dim && selected?.size && !isSelected ? 0.55 : 1;
  ctx.fillStyle = theme.active;
  circle(ctx, x, y, r);
  ctx.fill();
  ctx.globalAlpha = 1;
  if (flags?.has(person.id)) {
    ctx.strokeStyle = theme.warn;
    ctx.lineWidth = Math.max(2, z / 11);
    const k = z * 0.46;
    ctx.strokeRect(x - k, y - k, 2 * k, 2 * k);
  }
  if (trapped?.has(person.id)) {
    ctx.strokeStyle = theme.warn;
    ctx.lineWidth = Math.max(1.5, z / 12);
    corners(ctx, x - z * 0.46, y - z * 0.46, z * 0.92, z * 0.26);
  }
  if (isSelected) drawRing(pen, x, y, r);
}

/**
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function drawRing({ ctx, theme, size: z }, x, y, r) {
  const gap = Math.max(1.5, z / 14);
  ctx.strokeStyle = theme.floor;
  ctx.lineWidth = gap;
  circle(ctx, x, y, r + gap / 2);
  ctx.stroke();
  ctx.strokeStyle = theme.select;
  ctx.lineWidth = Math.max(1.4, z / 13);
  circle(ctx, x, y, r + gap / 2 + Math.max(1.2, z * 0.06));
  ctx.stroke();
}

/**
 * Numbers come after the arrows: in a crowd the tip of an arrow lies on the next person.
 * @param {Pen} pen
 */
export function drawNames(pen) {
  if (pen.size < NUMBER_FROM) return;
  for (const person of pen.view.people) {
    if (person.status === "active" && pen.shows(person.row, person.col)) drawName(pen, person);
  }
}

/**
 * @param {Pen} pen
 * @param {Person} person
 */
function drawName(pen, person) {
  const { ctx, theme, size: z } = pen;
  const { id } = person;
  const [x, y] = middle(pen, person);
  const digits = /(\d{1,3})$/.exec(id);
  const text = digits ? String(Number(digits[1])) : id.slice(0, 2);
  ctx.fillStyle = theme.halo;
  ctx.font = `600 ${Math.round(z * (text.length > 2 ? 0.25 : 0.3))}px ${theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(text, x, y + 0.5);
}

/**
 * @param {Pen} pen
 * @param {Person} person
 */
function drawTick(pen, person) {
  const { ctx, theme } = pen;
  const [x, y] = middle(pen, person);
  const r = radius(pen) * 1.05;
  ctx.fillStyle = theme.evac;
  circle(ctx, x, y, r);
  ctx.fill();
  ctx.strokeStyle = theme.halo;
  ctx.lineWidth = Math.max(1.3, r / 3.2);
  ctx.beginPath();
  ctx.moveTo(x - r * 0.45, y + r * 0.02);
  ctx.lineTo(x - r * 0.1, y + r * 0.38);
  ctx.lineTo(x + r * 0.48, y - r * 0.36);
  ctx.stroke();
}

/**
 * What each person will try: an arrow will move; dashed with a bar loses the cell; a bar waits.
 * @param {Pen} pen
 * @param {Map<string, {action: string, prediction: string}>} ghost
 * @param {Set<string> | undefined} selected
 */
export function drawGhosts(pen, ghost, selected) {
  for (const person of pen.view.people) {
    const intent = ghost.get(person.id);
    const direction = intent && DIRECTIONS[intent.action];
    if (!intent || !direction || person.status !== "active" || !pen.shows(person.row, person.col)) continue;
    if (pen.size < GHOST_FOR_ALL_FROM && selected?.size && !selected.has(person.id)) continue;
    const [x, y] = middle(pen, person);
    pen.ctx.save();
    pen.ctx.translate(x, y);
    pen.ctx.rotate(Math.atan2(direction[0], direction[1]));
    drawGhost(pen, intent.prediction);
    pen.ctx.restore();
  }
}

/**
 * @param {Pen} pen moved to the person and turned so that ahead is to the right
 * @param {string} prediction
 */
function drawGhost(pen, prediction) {
  const { ctx, theme, size: z } = pen;
  const r = radius(pen);
  if (prediction === "moved") {
    ctx.strokeStyle = ctx.fillStyle = theme.activeInk;
    ctx.lineWidth = Math.max(1.5, z / 15);
    ctx.beginPath();
    ctx.moveTo(r + 1, 0);
    ctx.lineTo(z * 0.76, 0);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(z * 0.95, 0);
    ctx.lineTo(z * 0.7, -z * 0.13);
    ctx.lineTo(z * 0.7, z * 0.13);
    ctx.fill();
    return;
  }
  const beaten = prediction === "blocked_conflict" || prediction === "blocked_cycle";
  ctx.strokeStyle = beaten ? theme.warn : theme.line;
  ctx.lineWidth = Math.max(1.5, z / (beaten ? 11 : 16));
  const bar = beaten ? z * 0.58 : r + z * 0.1;
  ctx.beginPath();
  if (beaten) {
    ctx.setLineDash([3, 2]);
    ctx.moveTo(r + 1, 0);
    ctx.lineTo(bar, 0);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
  }
  ctx.moveTo(bar, -z * 0.17);
  ctx.lineTo(bar, z * 0.17);
  ctx.stroke();
}

/**
 * @param {Pen} pen
 * @param {{from: Place, to: Place}} box
 */
export function drawBox(pen, { from, to }) {
  const { ctx, theme, size: z } = pen;
  const left = pen.x(Math.min(from.col, to.col));
  const top = pen.y(Math.min(from.row, to.row));
  const width = (Math.abs(from.col - to.col) + 1) * z;
  const height = (Math.abs(from.row - to.row) + 1) * z;
  ctx.strokeStyle = theme.select;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([4, 3]);
  ctx.strokeRect(left, top, width, height);
  ctx.setLineDash([]);
}

/**
 * @param {Pen} pen
 * @param {Place} target
 */
export function drawTarget(pen, target) {
  if (!pen.shows(target.row, target.col)) return;
  const { ctx, theme, size: z } = pen;
  ctx.strokeStyle = theme.ember;
  ctx.lineWidth = z >= 12 ? 2.5 : 1.5;
  corners(ctx, pen.x(target.col), pen.y(target.row), z, z * 0.24);
}

/**
 * The four corners of a square.
 * @param {Ctx} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} arm
 */
function corners(ctx, x, y, size, arm) {
  ctx.beginPath();
  for (const [cx, cy, dx, dy] of [
    [x, y, 1, 1],
    [x + size, y, -1, 1],
    [x, y + size, 1, -1],
    [x + size, y + size, -1, -1],
  ]) {
    ctx.moveTo(cx + dx * arm, cy);
    ctx.lineTo(cx, cy);
    ctx.lineTo(cx, cy + dy * arm);
  }
  ctx.stroke();
}
