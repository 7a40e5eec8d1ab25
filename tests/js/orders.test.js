// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { NEVER, canLeave, fireArrival, planStep, predict, route, stepsToSpread } from "../../static/js/lib/orders.js";
import { DIRECTIONS, applyDelta, viewFromObservation } from "../../static/js/lib/view.js";
import { drawn } from "./drawn.js";

/** @typedef {import("../../static/js/lib/orders.js").Order} Order */
/** @typedef {import("../../static/js/lib/orders.js").Action} Action */

const cases = JSON.parse(readFileSync(new URL("../data/board_cases.json", import.meta.url), "utf8"));

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

/**
 * The actions of a plan as one string, people in ID order.
 * @param {Map<string, {action: string}>} plans
 */
const written = (plans) => [...plans].map(([id, plan]) => `${id} ${plan.action}`).join(", ");

test("predictions agree with the simulator in every crowd", () => {
  assert.ok(cases.steps.length >= 40);
  for (const { observation, actions, movements } of cases.steps) {
    const view = viewFromObservation(observation);
    const predicted = Object.fromEntries(predict(view, observation.rules, new Map(Object.entries(actions))));
    assert.deepEqual(predicted, movements, JSON.stringify(observation.people));
  }
});

test("the foreseen deterministic fire is the one that comes", () => {
  for (const { observation, burns, last_step: lastStep } of cases.fires) {
    const view = viewFromObservation(observation);
    const arrival = fireArrival(view, observation.rules);
    assert.ok(arrival);
    arrival.forEach((step, cell) => {
      const came = burns[`${Math.floor(cell / view.width)},${cell % view.width}`];
      if (came !== undefined) assert.equal(step, came);
      else assert.ok(step > lastStep, `cell ${cell} was foreseen for ${step} and never burnt`);
    });
  }
});

test("the fire can be foreseen from the middle of a run too", () => {
  const { first, deltas, last } = cases.episode;
  let view = viewFromObservation(first);
  const whole = fireArrival(view, first.rules);
  for (const delta of deltas) view = applyDelta(view, delta);
  const later = fireArrival(viewFromObservation(last), last.rules);
  assert.ok(whole && later);
  whole.forEach((step, cell) => assert.equal(later[cell] === NEVER ? NEVER : Math.max(step, last.step), later[cell]));
});

test("a stochastic fire is not foreseen", () => {
  assert.equal(fireArrival(drawn(["A*1"]), { ...RULES, fire_model: "stochastic" }), null);
});

test("the clock of the fire counts down to the step in which it spreads", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map((step) => stepsToSpread(step, 3)), [3, 2, 1, 3, 2]);
});

test("a route goes around walls and fire and knows every shortest beginning", () => {
  const view = drawn(["A.#..", "..#.1", "....."]);
  const way = route(view, 0, new Set([9]), null, new Set([9]));
  assert.deepEqual(way && [way.distance, way.goal], [7, 9]);
  assert.equal(way?.first, (1 << 1) | (1 << 2), "south or east");
  assert.equal(route(drawn(["A#1"]), 0, new Set([2]), null, new Set([2])), null);
});

test("a route avoids cells that burn by the time one is there", () => {
  const view = drawn(["A....1", "....*.", "......", "......"]);
  const goal = new Set([5]);
  assert.ok(route(view, 0, goal, null, goal));
  assert.equal(route(view, 0, goal, fireArrival(view, RULES), goal), null, "the fire is there first");
});

test("nobody walks through an exit on the way to another one", () => {
  const view = drawn(["A1.2", "####"]);
  assert.equal(route(view, 0, new Set([3]), null, new Set([1, 3])), null);
});

test("standing orders persist, a nudge goes first, everybody else stays", () => {
  const view = drawn(["A..1", "B...", "C..."]);
  /** @type {Map<string, Order>} */
  const orders = new Map([
    ["A", { kind: "nearest" }],
    ["B", { kind: "cell", row: 1, col: 3 }],
  ]);
  assert.equal(written(planStep(view, RULES, orders, new Map())), "A east, B east, C stay");
  assert.equal(written(planStep(view, RULES, orders, new Map([["A", /** @type {Action} */ ("south")]]))), "A south, B east, C stay");
});

test("hold and a reached cell mean stay", () => {
  const view = drawn(["AB1"]);
  /** @type {Map<string, Order>} */
  const orders = new Map([
    ["A", { kind: "hold" }],
    ["B", { kind: "cell", row: 0, col: 1 }],
  ]);
  assert.equal(written(planStep(view, RULES, orders, new Map())), "A stay, B stay");
});

test("a queue moves up in one step", () => {
  const view = drawn(["ABC.1"]);
  /** @type {Map<string, Order>} */
  const orders = new Map(["A", "B", "C"].map((id) => [id, { kind: "exit", exit: "E1" }]));
  const plans = planStep(view, RULES, orders, new Map());
  assert.equal(written(plans), "A east, B east, C east");
  const outcomes = predict(view, RULES, new Map([...plans].map(([id, plan]) => [id, plan.action])));
  assert.deepEqual([...outcomes.values()], ["moved", "moved", "moved"]);
});

test("of two who want one cell the nearer goes and the other waits", () => {
  const view = drawn(["#A#", "B.1"]);
  /** @type {Map<string, Order>} */
  const orders = new Map(["A", "B"].map((id) => [id, { kind: "nearest" }]));
  const plans = planStep(view, RULES, orders, new Map());
  assert.equal(written(plans), "A south, B stay");
  assert.equal(plans.get("B")?.wait, "blocked_conflict");
  assert.equal(plans.get("B")?.intent, "east");
});

test("who has no way is told so and stays", () => {
  const plans = planStep(drawn(["A#1"]), RULES, new Map([["A", /** @type {Order} */ ({ kind: "nearest" })]]), new Map());
  assert.deepEqual([plans.get("A")?.cut, plans.get("A")?.action], [true, "stay"]);
});

test("a burning exit is no goal", () => {
  const view = drawn(["1A..2"]);
  view.burn[0] = 0;
  const plans = planStep(view, { ...RULES, spread_interval: 9 }, new Map([["A", /** @type {Order} */ ({ kind: "nearest" })]]), new Map());
  assert.equal(plans.get("A")?.exit, "E2");
});

test("orders of everybody to the nearest exit never collide", () => {
  for (const { observation } of cases.steps) {
    const view = viewFromObservation(observation);
    const active = view.people.filter(({ status }) => status === "active");
    /** @type {Map<string, Order>} */
    const orders = new Map(active.map(({ id }) => [id, { kind: "nearest" }]));
    const plans = planStep(view, observation.rules, orders, new Map());
    const outcome = predict(view, observation.rules, new Map([...plans].map(([id, plan]) => [id, plan.action])));
    for (const [id, result] of outcome) assert.ok(["moved", "stayed"].includes(result), `${id} ${result}`);
  }
});

test("the directions are those of the rules", () => {
  assert.deepEqual(DIRECTIONS, { north: [-1, 0], south: [1, 0], east: [0, 1], west: [0, -1] });
});

test("one flood finds the same people cut off as a way sought for each cell", () => {
  let seed = 1;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const found = [0, 0];
  for (let i = 0; i < 500; i += 1) {
    const [width, height] = [2 + Math.floor(random() * 7), 1 + Math.floor(random() * 7)];
    const signs = () => (random() < 0.25 ? "#" : random() < 0.15 ? "*" : random() < 0.1 ? "1" : ".");
    const view = drawn(Array.from({ length: height }, () => Array.from({ length: width }, signs).join("")));
    const exits = new Set(view.exits.map(({ row, col }) => row * width + col));
    for (const cell of exits) if (random() < 0.3) view.burn[cell] = 0;
    const open = new Set([...exits].filter((cell) => view.burn[cell] < 0));
    const free = canLeave(view);
    view.walls.forEach((wall, cell) => {
      if (wall || view.burn[cell] === 0) return;
      const way = route(view, cell, open, null, exits) !== null;
      assert.equal(free[cell], Number(way), `cell ${cell} of ${JSON.stringify(view)}`);
      found[free[cell]] += 1;
    });
  }
  assert.ok(Math.min(...found) > 1000, "both kinds were there");
});
