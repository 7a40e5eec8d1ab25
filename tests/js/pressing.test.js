// @ts-check
// The step button and the board under a pointer, against targets and a clock that a test moves by hand.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

/** @type {any} */
const world = globalThis;
const page = new EventTarget();
world.addEventListener = page.addEventListener.bind(page);
let nowMs = 0;
Object.defineProperty(world, "performance", { value: { now: () => nowMs } });
/** What was asked to run again and again. @type {Map<number, () => void>} */
const intervals = new Map();
let asked = 0;
world.setInterval = (/** @type {() => void} */ run) => {
  intervals.set(++asked, run);
  return asked;
};
world.clearInterval = (/** @type {number} */ id) => intervals.delete(id);

const { Game } = await import("../../static/js/lib/game.js");
const { bindHold } = await import("../../static/js/play/hold.js");
const { bindPointer } = await import("../../static/js/play/pointer.js");
const { drawn } = await import("./drawn.js");

const EVERY_MS = 60;
/** What the button did: true where it was kept down. @type {boolean[]} */
let acts = [];
let usable = true;
/** @type {any} */
let button;

beforeEach(() => {
  intervals.clear();
  acts = [];
  usable = true;
  button = new EventTarget();
  const act = (/** @type {boolean} */ repeat) => Boolean(acts.push(repeat));
  bindHold(button, EVERY_MS, { act, usable: () => usable });
});

/** @param {EventTarget} target @param {string} type @param {object} [values] */
function happens(target, type, values = {}) {
  target.dispatchEvent(Object.assign(new Event(type), { button: 0, buttons: 1, detail: 1, ...values }));
}

/** @param {number} ms */
function wait(ms) {
  for (let gone = 0; gone < ms; gone += EVERY_MS) {
    nowMs += EVERY_MS;
    for (const run of [...intervals.values()]) run();
  }
}

test("a click is one step, a press that is kept down many and none more at its end", () => {
  happens(button, "pointerdown");
  wait(120);
  happens(button, "pointerup");
  happens(button, "click");
  assert.deepEqual(acts, [false]);
  happens(button, "pointerdown");
  wait(900);
  const many = acts.length;
  assert.ok(many > 2 && acts.slice(1).every(Boolean));
  happens(button, "pointerup");
  happens(button, "click");
  wait(900);
  assert.equal(acts.length, many);
});

test("a button that was let go unheard while it was out of use does not go on by itself", () => {
  happens(button, "pointerdown");
  wait(600);
  usable = false;
  wait(60);
  const before = acts.length;
  usable = true;
  wait(900);
  assert.equal(acts.length, before);
  happens(button, "click", { detail: 0 });
  assert.equal(acts.at(-1), false, "a key presses it as before");
});

for (const type of ["pointerup", "blur"]) {
  test(`the page hears a ${type} that the button does not`, () => {
    happens(button, "pointerdown");
    wait(600);
    const before = acts.length;
    happens(page, type);
    wait(900);
    assert.equal(acts.length, before);
  });
}

/** A board of one row with cells of ten pixels, under a pointer. */
function board() {
  const game = new Game();
  game.see(drawn(["AB.C1"]), /** @type {any} */ ({ fire_model: "stochastic", spread_interval: 1, max_steps: 9 }));
  /** @type {any} */
  const canvas = Object.assign(new EventTarget(), { setPointerCapture: () => undefined });
  /** @type {any} */
  const shown = { box: undefined };
  /** @type {any} */
  const drawing = {
    cellAt: (/** @type {any} */ event) => ({ row: 0, col: Math.floor(event.clientX / 10) }),
    cellBox: () => ({ size: 10 }),
    set: (/** @type {object} */ change) => Object.assign(shown, change),
  };
  bindPointer(canvas, drawing, game, { redraw: () => undefined, aim: () => undefined, usable: () => true });
  const pointer = (/** @type {string} */ type, /** @type {number} */ clientX, values = {}) =>
    happens(canvas, type, { clientX, clientY: 5, pointerType: "mouse", ...values });
  return { game, pointer, shown };
}

test("a dragged box selects those inside it", () => {
  const { game, pointer, shown } = board();
  pointer("pointerdown", 2);
  pointer("pointermove", 22);
  assert.deepEqual(shown.box, { from: { row: 0, col: 0 }, to: { row: 0, col: 2 } });
  pointer("pointerup", 22, { buttons: 0 });
  assert.deepEqual([...game.selected], ["A", "B"]);
  assert.equal(shown.box, undefined);
});

test("a press that ended beside the board draws no box when the pointer comes back", () => {
  const { pointer, shown } = board();
  pointer("pointerdown", 2);
  pointer("pointermove", 42, { buttons: 0 });
  assert.equal(shown.box, undefined);
  pointer("pointermove", 12, { buttons: 0 });
  assert.equal(shown.box, undefined);
});
