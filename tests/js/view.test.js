// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyDelta,
  countView,
  describeView,
  fireText,
  viewFromObservation,
  viewFromScenario,
  viewFromTrack,
} from "../../static/js/lib/view.js";

/** @typedef {import("../../static/js/lib/view.js").Track} Track */

/** A corridor of five cells: exit at its left end, fire at its right. @returns {any} */
const scenario = () => ({
  grid: { width: 5, height: 2 },
  obstacles: [[1, 0], [1, 1], [1, 2], [1, 3], [1, 4]],
  exits: [{ id: "E1", position: [0, 0] }],
  people: [
    { id: "P1", position: [0, 1] },
    { id: "P2", position: [0, 3] },
  ],
  ignitions: [[0, 4]],
  fire: { spread_interval: 1 },
});

/** @param {Partial<any>} [change] @returns {any} */
const observation = (change = {}) => ({
  step: 0,
  map: { width: 5, height: 2, obstacles: scenario().obstacles, exits: scenario().exits },
  people: scenario().people.map((/** @type {any} */ person) => ({ ...person, status: "active" })),
  burning: [[0, 4]],
  rules: { spread_interval: 1 },
  ...change,
});

/** @type {Track} */
const track = {
  width: 5,
  height: 2,
  obstacles: scenario().obstacles,
  exits: scenario().exits,
  people: [
    { id: "P1", position: [0, 1], moves: "W", status: "evacuated", end_step: 1 },
    { id: "P2", position: [0, 3], moves: ".", status: "casualty", end_step: 1 },
    { id: "P3", position: [0, 2], moves: ".WW", status: "evacuated", end_step: 3 },
  ],
  burn: [[0, 4, 0], [0, 3, 1], [0, 2, 2]],
  steps: 3,
  spread_interval: 1,
};

test("a scenario and its first observation give the same view", () => {
  assert.deepEqual(viewFromScenario(scenario()), viewFromObservation(observation()));
});

test("walls, exits and fire stand where the scenario puts them", () => {
  const view = viewFromScenario(scenario());
  assert.deepEqual([...view.walls], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
  assert.deepEqual(view.exits, [{ id: "E1", row: 0, col: 0 }]);
  assert.equal(view.burn[4], 0);
  assert.equal(view.burn[3], -1);
});

test("a delta moves, evacuates and burns, and leaves the view before it alone", () => {
  const before = viewFromScenario(scenario());
  const after = applyDelta(before, {
    step: 1,
    moved: [],
    evacuated: [["P1", 0, 0]],
    casualties: [["P2", 0, 3]],
    ignitions: [[0, 3]],
  });
  assert.deepEqual(after.people, [
    { id: "P1", row: 0, col: 0, status: "evacuated", since: 1 },
    { id: "P2", row: 0, col: 3, status: "casualty", since: 1 },
  ]);
  assert.equal(after.burn[3], 1);
  assert.equal(before.burn[3], -1);
  assert.equal(before.people[0].status, "active");
  assert.deepEqual(countView(after), { active: 0, evacuated: 1, casualty: 1, burning: 2 });
});

test("a delta that is not of the next step is refused", () => {
  const view = viewFromScenario(scenario());
  const delta = { moved: [], evacuated: [], casualties: [], ignitions: [] };
  assert.throws(() => applyDelta(view, { ...delta, step: 2 }), RangeError);
  assert.throws(() => applyDelta(view, { ...delta, step: 0 }), RangeError);
});

test("a snapshot keeps what an earlier view knew of fire and people", () => {
  const first = viewFromObservation(observation());
  const people = [
    { id: "P1", position: [0, 0], status: "evacuated" },
    { id: "P2", position: [0, 3], status: "active" },
  ];
  const second = viewFromObservation(observation({ step: 2, people, burning: [[0, 4]] }), first);
  const third = viewFromObservation(observation({ step: 3, people, burning: [[0, 3], [0, 4]] }), second);
  assert.equal(third.burn[4], 0);
  assert.equal(third.burn[3], 3);
  assert.equal(third.people[0].since, 2);
  assert.equal(third.walls, first.walls);
});

test("without an earlier view only the front of the fire is new", () => {
  const view = viewFromObservation(observation({ step: 7, burning: [[0, 3], [0, 4]] }));
  assert.equal(view.burn[3], 7);
  assert.equal(view.burn[4], 0);
});

test("an earlier view of a later step is not believed", () => {
  const later = { ...viewFromObservation(observation()), step: 9 };
  assert.equal(viewFromObservation(observation({ step: 3 }), later).burn[4], 3);
});

test("a track gives the state after each step", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => viewFromTrack(track, step).people.map((p) => `${p.id}${p.status[0]}${p.col}`).join(" ")),
    ["P1a1 P2a3 P3a2", "P1e0 P2c3 P3a2", "P1e0 P2c3 P3a1", "P1e0 P2c3 P3e0"],
  );
});

test("a track burns only up to its step", () => {
  assert.deepEqual([0, 1, 2].map((step) => countView(viewFromTrack(track, step)).burning), [1, 2, 3]);
});

test("a step outside a track is the nearest one inside", () => {
  assert.equal(viewFromTrack(track, 99).step, 3);
  assert.equal(viewFromTrack(track, -4).step, 0);
  assert.equal(viewFromTrack(track, Number.NaN).step, 0);
});

test("a view is described in words", () => {
  assert.equal(describeView(viewFromTrack(track, 1)), "Step 1: 1 inside, 1 out, 1 lost, 2 cells burn.");
  assert.deepEqual([0, 1, 2].map(fireText), ["0 cells burn", "1 cell burns", "2 cells burn"]);
});
