// @ts-check
// The drawing against a context that writes down what is asked of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { draw } from "../../static/js/draw/plan.js";

/** Records every call with the colours in force. */
function recorder() {
  /** @type {{name: string, args: any[], fill: string, stroke: string}[]} */
  const calls = [];
  /** @type {Record<string, any>} */
  const state = {};
  const ctx = new Proxy(state, {
    get: (target, name) => {
      if (name in target) return target[String(name)];
      return (/** @type {any[]} */ ...args) =>
        calls.push({ name: String(name), args, fill: state.fillStyle, stroke: state.strokeStyle });
    },
  });
  return { ctx: /** @type {any} */ (ctx), calls };
}

/** A theme whose colours are their own names. */
const theme = /** @type {any} */ (new Proxy({}, { get: (_, name) => String(name) }));

/** @returns {any} */
function view(change = {}) {
  return {
    width: 6,
    height: 3,
    walls: Uint8Array.from([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]),
    exits: [{ id: "E1", row: 1, col: 0 }],
    people: [
      { id: "P1", row: 1, col: 2, status: "active", since: 0 },
      { id: "P2", row: 1, col: 0, status: "evacuated", since: 2 },
      { id: "P3", row: 1, col: 4, status: "casualty", since: 1 },
    ],
    burn: new Int32Array(18).fill(-1),
    step: 2,
    spreadInterval: 2,
    ...change,
  };
}

/** @param {any} v @param {any} [options] */
function drawn(v, options = {}) {
  const { ctx, calls } = recorder();
  draw(ctx, v, theme, { maxWidth: 240, ...options });
  return calls;
}

test("people are told apart by shape: disc, tick, cross", () => {
  const calls = drawn(view());
  const discs = calls.filter((call) => call.name === "fill" && call.fill === "active");
  const ticks = calls.filter((call) => call.name === "fill" && call.fill === "evac");
  const crosses = calls.filter((call) => call.name === "stroke" && call.stroke === "casualty");
  assert.deepEqual([discs.length, ticks.length, crosses.length], [1, 1, 1]);
});

test("a tick stands only in the step in which somebody left, and only if wanted", () => {
  const ticks = (/** @type {any} */ v, options = {}) => drawn(v, options).filter((call) => call.fill === "evac").length;
  assert.ok(ticks(view()) > 0);
  assert.equal(ticks(view({ step: 3 })), 0);
  assert.equal(ticks(view(), { ticks: false }), 0);
});

test("fire that can go on has a front, and new fire another tint than old", () => {
  const burn = new Int32Array(18).fill(-1);
  burn[11] = 0;
  burn[10] = 2;
  burn[9] = 5; // later than the step shown
  const calls = drawn(view({ burn }));
  const rects = (/** @type {string} */ fill) =>
    calls.filter((call) => call.name === "rect" && call.fill === fill).map((call) => call.args[0]);
  assert.deepEqual(rects("fireOld"), [200]);
  assert.deepEqual(rects("fireNew").slice(0, 1), [160]);
  const front = calls.filter((call) => call.name === "moveTo" && call.stroke === "front");
  assert.deepEqual(front.map((call) => call.args), [[160, 40]]);
});

test("a burning exit is crossed out and said to be lost", () => {
  const burn = new Int32Array(18).fill(-1);
  burn[6] = 1;
  const texts = (/** @type {any} */ v) =>
    drawn(v, { labels: true }).flatMap((call) => (call.name === "fillText" ? [call.args[0]] : []));
  assert.deepEqual(texts(view({ burn })), ["E1", "lost"]);
  assert.deepEqual(texts(view()), ["E1", "✓1"]);
  assert.deepEqual(texts(view({ step: 0 })), ["E1"]);
});

test("a long exit ID is shortened", () => {
  const exits = [{ id: "a-very-long-exit-id", row: 1, col: 0 }];
  const text = drawn(view({ exits, step: 0 }), { labels: true }).find((call) => call.name === "fillText");
  assert.equal(text?.args[0], "a-very-…");
});

test("ghosts differ in form by what the rules predict", () => {
  const dashes = (/** @type {string} */ prediction) =>
    drawn(view(), { ghost: new Map([["P1", { action: "east", prediction }]]) }).filter(
      (call) => call.name === "setLineDash" && call.args[0].length,
    ).length;
  assert.equal(dashes("moved"), 0);
  assert.equal(dashes("blocked_conflict"), 1);
  assert.equal(dashes("blocked_occupied"), 0);
});

test("a ghost of a person who is out, or who stays, is not drawn", () => {
  const plain = drawn(view()).length;
  const ghost = new Map([
    ["P2", { action: "east", prediction: "moved" }],
    ["P1", { action: "stay", prediction: "stayed" }],
  ]);
  assert.equal(drawn(view(), { ghost }).length, plain);
});

test("numbers lie on top of the arrows of others", () => {
  const ghost = new Map([["P1", { action: "east", prediction: "moved" }]]);
  const calls = drawn(view(), { ids: true, ghost });
  const number = calls.findIndex((call) => call.name === "fillText" && call.args[0] === "1");
  const arrow = calls.findLastIndex((call) => call.name === "fill" && call.fill === "activeInk");
  assert.ok(arrow >= 0 && number > arrow);
  const named = calls.filter((call) => call.name === "fillText").map((call) => call.args[0]);
  assert.deepEqual(named, ["1"], "who is out or lost has a shape and no number");
  assert.equal(drawn(view(), { ghost }).filter((call) => call.name === "fillText").length, 0);
});

test("only what is inside the crop is drawn", () => {
  const calls = drawn(view(), { crop: { row: 0, col: 3, rows: 3, cols: 3 } });
  assert.equal(calls.filter((call) => call.fill === "active").length, 0);
  assert.ok(calls.every((call) => call.name !== "rect" || (call.args[0] >= 0 && call.args[0] <= 240)));
});

test("layers drawn before are copied instead of drawn again", () => {
  const layers = { ground: "ground", walls: "walls" };
  const calls = drawn(view(), { layers });
  assert.deepEqual(calls.filter((call) => call.name === "drawImage").map((call) => call.args[0]), ["ground", "walls"]);
  assert.equal(calls.filter((call) => call.fill === "wall").length, 0);
});

test("the same arguments give the same drawing", () => {
  assert.deepEqual(drawn(view(), { labels: true }), drawn(view(), { labels: true }));
});
