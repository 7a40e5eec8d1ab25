// @ts-check
// Orders, selection and the attention list of a player; the table of keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOCKED_LONG, attention, exitRows, lastThrough } from "../../static/js/lib/attention.js";
import { Game, orderText } from "../../static/js/lib/game.js";
import { BINDINGS, bindingGroups, bindingOf } from "../../static/js/lib/keys.js";
import { applyDelta } from "../../static/js/lib/view.js";
import { drawn } from "./drawn.js";

/** @type {import("../../static/js/lib/orders.js").Rules} */
const RULES = {
  fire_model: "deterministic",
  spread_interval: 1,
  spread_probability: null,
  exits_flammable: true,
  enter_fire: "casualty",
  conflict_resolution: "lowest_id_wins",
  max_steps: 50,
};
const SLOW = { ...RULES, spread_interval: 40 };

/**
 * @param {string[]} rows
 * @param {import("../../static/js/lib/orders.js").Rules} [rules]
 */
function game(rows, rules = SLOW) {
  const game = new Game();
  game.see(drawn(rows), rules);
  return game;
}

/**
 * @param {Game} game
 * @param {any} change of the delta
 */
function step(game, change = {}) {
  assert.ok(game.view && game.rules);
  game.sending();
  const delta = { step: game.view.step + 1, moved: [], evacuated: [], casualties: [], ignitions: [], ...change };
  game.see(applyDelta(game.view, delta), game.rules);
}

test("the end by the rules is known before the server tells it", () => {
  assert.equal(new Game().over, false);
  const left = game(["A1"]);
  assert.equal(left.over, false);
  step(left, { evacuated: [["A", 0, 1]] });
  assert.equal(left.over, true);
  const short = game(["A..1"], { ...SLOW, max_steps: 2 });
  step(short);
  assert.equal(short.over, false);
  step(short);
  assert.equal(short.over, true);
});

test("everybody who is inside has exactly one action", () => {
  const one = game(["AB.1", "C..."]);
  assert.deepEqual(one.actions, { A: "stay", B: "stay", C: "stay" });
  one.select(["A", "nobody"]);
  assert.deepEqual([...one.selected], ["A"]);
  one.order({ kind: "nearest" });
  assert.equal(one.actions.A, "stay", "B stands in the way");
  one.selectAll();
  one.order({ kind: "nearest" });
  assert.deepEqual(one.actions, { A: "east", B: "east", C: "north" }, "C takes the cell that A leaves");
});

test("an order outlives the step, a nudge does not", () => {
  const one = game(["A..1", "B..."]);
  one.select(["A"]);
  one.order({ kind: "nearest" });
  one.select(["B"]);
  one.nudge("east");
  assert.deepEqual(one.actions, { A: "east", B: "east" });
  step(one, { moved: [["A", 0, 1], ["B", 1, 1]] });
  assert.deepEqual(one.actions, { A: "east", B: "stay" });
});

test("a new order takes back the nudge", () => {
  const one = game(["A..1", "B..."]);
  one.select(["A"]);
  one.nudge("south");
  one.order({ kind: "hold" });
  assert.equal(one.actions.A, "stay");
});

test("who left is no longer selected and has no order", () => {
  const one = game(["A1.", "B.C"]);
  one.selectAll();
  one.order({ kind: "nearest" });
  step(one, { evacuated: [["A", 0, 1]] });
  assert.deepEqual([...one.selected], ["B", "C"]);
  assert.equal(one.orders.has("A"), false);
  step(one, { casualties: [["B", 1, 0]] });
  assert.deepEqual([...one.selected], ["C"], "the last one inside is always selected");
});

test("the assist level is the most help that was used", () => {
  const one = game(["A..1", "B..."]);
  one.select(["A"]);
  one.nudge("east");
  assert.equal(one.assist, 0);
  one.order({ kind: "hold" });
  assert.equal(one.assist, 0);
  one.selectAll();
  one.nudge("east");
  assert.equal(one.assist, 1);
  one.order({ kind: "cell", row: 0, col: 1 });
  assert.equal(one.assist, 2);
  assert.equal(new Game(2).assist, 2, "a reload does not lower it");
});

test("nobody selected takes no order", () => {
  const one = game(["A..1", "B..."]);
  assert.equal(one.order({ kind: "nearest" }), false);
  assert.equal(one.nudge("east"), false);
  assert.equal(one.assist, 0);
});

test("Tab goes round those who need a look, else round everybody", () => {
  const calm = game(["A..1", "B..."]);
  assert.deepEqual([calm.selectNext(1), calm.selectNext(1), calm.selectNext(1), calm.selectNext(-1)], ["A", "B", "A", "B"]);
  const hot = game(["A...1", "B.*..", "....."], RULES);
  assert.equal(hot.selectNext(1), hot.flags[0].id);
});

test("ghost arrows tell who moves, who loses the cell and who waits", () => {
  const one = game(["#A#", "B.1", "C##"]);
  for (const [id, direction] of /** @type {const} */ ([["A", "south"], ["B", "east"], ["C", "north"]])) {
    one.select([id]);
    one.nudge(direction);
  }
  assert.deepEqual(Object.fromEntries(one.ghost), {
    A: { action: "south", prediction: "moved" },
    B: { action: "east", prediction: "blocked_conflict" },
    C: { action: "north", prediction: "blocked_occupied" },
  });
});

test("people whom the fire reaches soon come first", () => {
  const flags = attention(drawn(["A.B.*", "....1"]), RULES, new Map(), new Map());
  assert.deepEqual(flags.map(({ id, kind, text }) => `${id} ${kind} ${text}`), ["B fire burns in 2 steps", "A fire burns in 4 steps"]);
});

test("beside a stochastic fire one is flagged, further away not", () => {
  const rules = { ...RULES, fire_model: "stochastic", spread_probability: 0.5 };
  assert.deepEqual(attention(drawn(["A.B*1"]), rules, new Map(), new Map()).map(({ id, kind }) => `${id} ${kind}`), ["B fire", "A cut"]);
});

test("who is shut in has no way out", () => {
  assert.deepEqual(attention(drawn(["A#.1", "##.."]), SLOW, new Map(), new Map())[0].text, "no way out");
});

test("who comes too late for the exit is named before it burns", () => {
  const one = game(["ABCDEF...1", "*........."], { ...RULES, spread_interval: 1 });
  one.selectAll();
  one.order({ kind: "nearest" });
  const late = one.flags.filter(({ kind }) => kind === "late" || kind === "fire");
  assert.ok(late.length > 0);
});

test("waiting for long is flagged, and moving on forgets it", () => {
  const one = game(["A.1", "B.."]);
  one.select(["A"]);
  one.order({ kind: "nearest" });
  for (let i = 0; i < BLOCKED_LONG; i += 1) step(one);
  assert.equal(one.flags[0].text, `waiting ${BLOCKED_LONG} steps`);
  step(one, { moved: [["A", 0, 1]] });
  assert.equal(one.flags.length, 0);
});

test("an exit lets one person through a step", () => {
  assert.equal(lastThrough([]), 0);
  assert.equal(lastThrough([3]), 3);
  assert.equal(lastThrough([2, 2, 2, 9]), 9);
  assert.equal(lastThrough([1, 1, 1]), 3);
});

test("the exits table counts who is out, who comes and when the last arrives", () => {
  const one = game(["AB.1", "....", "..*."], { ...RULES, spread_interval: 3 });
  one.selectAll();
  one.order({ kind: "nearest" });
  assert.deepEqual(exitRows(drawn(["AB.1", "....", "..*."]), { ...RULES, spread_interval: 3 }, one.plans), [
    { id: "E1", out: 0, coming: 2, lastAt: 3, burnsAt: 9, lost: false },
  ]);
});

test("orders have words", () => {
  assert.equal(orderText(undefined), "none, stays");
  assert.equal(orderText({ kind: "exit", exit: "E2" }), "go to exit E2");
  assert.equal(orderText({ kind: "cell", row: 2, col: 3 }), "go to 2, 3");
});

test("the help lists exactly what is bound", () => {
  const listed = [...bindingGroups().values()].flat();
  assert.deepEqual(new Set(listed), new Set(BINDINGS));
  assert.ok(listed.every(({ shown, text }) => shown.length > 0 && text));
  for (const binding of BINDINGS) {
    for (const key of binding.keys) {
      const press = { key, shift: Boolean(binding.shift), command: Boolean(binding.command) };
      assert.equal(bindingOf(press), binding, `${key} is bound twice`);
    }
  }
});

test("letters are bound whatever the shift key, but not with ctrl", () => {
  assert.equal(bindingOf({ key: "X", shift: true, command: false })?.does, "nearest");
  assert.equal(bindingOf({ key: "a", shift: false, command: true })?.does, "all");
  assert.equal(bindingOf({ key: "a", shift: false, command: false })?.does, "west");
  assert.equal(bindingOf({ key: "x", shift: false, command: true }), null);
  assert.equal(bindingOf({ key: "q", shift: false, command: false }), null);
});
