// @ts-check
// The front page: the baseline's recorded runs of all scenarios, replayed on one clock.

import { mountBoard } from "../board.js";
import { countView, describeView, viewFromTrack } from "../lib/view.js";
import { symbol } from "../symbols.js";

/** @typedef {import("../lib/view.js").Track} Track */
/** @typedef {{track: Track, link: HTMLElement, canvas: HTMLCanvasElement, count: HTMLElement, board: import("../board.js").Board}} Room */

const STEP_MS = 420;
const REST_STEPS = 6; // after the last room is done, before the clock starts anew
const NARROW_PX = 1000;

const section = /** @type {HTMLElement} */ (document.querySelector("#rooms"));
const clock = /** @type {HTMLElement} */ (document.querySelector("#clock"));
const button = /** @type {HTMLButtonElement} */ (document.querySelector("#playpause"));

/** @param {HTMLElement} link */
async function openRoom(link) {
  const response = await fetch(String(link.dataset.track));
  if (!response.ok) throw new Error(`${link.dataset.track}: ${response.status}`);
  const track = /** @type {Track} */ (await response.json());
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Plan of ${link.dataset.name}`);
  const box = /** @type {HTMLElement} */ (link.querySelector(".cv"));
  const count = /** @type {HTMLElement} */ (link.querySelector(".ct"));
  box.replaceChildren(canvas);
  const board = mountBoard(canvas, {
    view: viewFromTrack(track, 0),
    maxWidth: () => box.clientWidth,
    maxHeight: () => (innerWidth < NARROW_PX ? 110 : 136),
  });
  return { track, link, canvas, count, board };
}

/**
 * People out of all, and those lost, below a room.
 * @param {Room} room
 * @param {{evacuated: number, casualty: number}} counts
 */
function writeCount({ count, track }, { evacuated, casualty }) {
  const out = document.createElement("b");
  out.textContent = String(evacuated);
  count.replaceChildren(out, `/${track.people.length}`);
  if (!casualty) return;
  const lost = document.createElement("span");
  lost.className = "lost";
  lost.append(symbol("casualty", { size: "small", label: "lost" }), String(casualty));
  count.append(" ", lost);
}

/**
 * @param {Room[]} rooms
 * @param {number} step
 */
function show(rooms, step) {
  const sum = { step, evacuated: 0, active: 0, casualty: 0 };
  for (const room of rooms) {
    const view = viewFromTrack(room.track, step);
    const counts = countView(view);
    room.board.set({ view });
    room.canvas.setAttribute("aria-label", `Plan of ${room.link.dataset.name}. ${describeView(view)}`);
    writeCount(room, counts);
    sum.evacuated += counts.evacuated;
    sum.active += counts.active;
    sum.casualty += counts.casualty;
  }
  for (const [name, value] of Object.entries(sum)) {
    const field = clock.querySelector(`[data-count="${name}"]`);
    if (field) field.textContent = String(value);
  }
}

/** @param {Room[]} rooms */
function startClock(rooms) {
  const last = Math.max(...rooms.map((room) => room.track.steps));
  let step = 0;
  let timer = 0;
  const tick = () => {
    step = step >= last + REST_STEPS ? 0 : step + 1;
    if (step <= last) show(rooms, step);
  };
  const run = (/** @type {boolean} */ on) => {
    clearInterval(timer);
    timer = on ? window.setInterval(tick, STEP_MS) : 0;
    button.replaceChildren(symbol(on ? "pause" : "play"));
    button.setAttribute("aria-label", on ? "Pause" : "Play");
  };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  button.addEventListener("click", () => run(!timer));
  clock.hidden = false;
  show(rooms, 0);
  run(!still);

  let resume = false;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      resume = Boolean(timer);
      run(false);
    } else if (resume) run(true);
  });
}

const links = /** @type {HTMLElement[]} */ ([...section.querySelectorAll("[data-track]")]);
const opened = await Promise.allSettled(links.map(openRoom));
const rooms = opened.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
if (rooms.length) startClock(rooms);
