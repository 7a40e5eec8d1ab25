// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import {
  claimedView, cropAround, curves, linePath, partingGhosts, sceneGhosts, spreadLabels, stepFromText,
  stepsDue,
} from "../../static/js/lib/replay.js";

/** @param {[import("../../static/js/lib/view.js").Status, number | null][]} people @param {number} steps */
function track(people, steps) {
  return {
    width: 1,
    height: 1,
    obstacles: [],
    exits: [],
    people: people.map(([status, end], i) => ({
      id: `P${i}`,
      position: /** @type {[number, number]} */ ([0, 0]),
      moves: ".".repeat(end ?? steps),
      status,
      end_step: end,
    })),
    burn: [],
    steps,
    spread_interval: 1,
  };
}

test("curves count people out, lost and inside after each step", () => {
  const { out, lost, inside } = curves(track([["evacuated", 1], ["evacuated", 3], ["casualty", 3], ["active", null]], 4));
  assert.deepEqual([...out], [0, 1, 1, 2, 2]);
  assert.deepEqual([...lost], [0, 0, 0, 1, 1]);
  assert.deepEqual([...inside], [4, 3, 3, 1, 1]);
});

test("a death on the last step counts", () => {
  const { lost } = curves(track([["casualty", 2]], 2));
  assert.deepEqual([...lost], [0, 0, 1]);
});

test("a run without steps has one state", () => {
  assert.deepEqual([...curves(track([["active", null]], 0)).inside], [1]);
});

for (const [text, step, noted] of /** @type {[string | null, number, boolean][]} */ ([
  [null, 0, false],
  ["", 0, false],
  ["7", 7, false],
  ["60", 60, false],
  ["999999", 60, true],
  ["-5", 0, true],
  ["abc", 0, true],
  ["1e3", 0, true],
  ["3.5", 0, true],
  ["9".repeat(400), 0, true],
])) {
  test(`the step of ?t=${text === null ? "" : text.slice(0, 12)} is ${step}${noted ? ", with a note" : ""}`, () => {
    const answer = stepFromText(text, 60);
    assert.equal(answer.step, step);
    assert.equal(answer.note !== "", noted);
  });
}

test("a line of a long run keeps its last point and few others", () => {
  const path = linePath(new Uint32Array(50_001), (i) => i, (v) => v, 600);
  assert.ok(path.split("L").length <= 601);
  assert.ok(path.endsWith("50000.0 0.0"));
  assert.ok(path.startsWith("M0.0 0.0"));
});

test("labels that would cover each other are moved apart and stay inside", () => {
  const placed = spreadLabels([100, 100, 96], 14, 104);
  const sorted = [...placed].sort((a, b) => a - b);
  assert.ok(sorted[1] - sorted[0] >= 14 && sorted[2] - sorted[1] >= 14);
  assert.ok(sorted[2] <= 104);
});

test("labels far apart stay where they are", () => {
  assert.deepEqual(spreadLabels([10, 50, 90], 14, 120), [10, 50, 90]);
});

test("a scene's ghosts are of those involved, with what came of their moves", () => {
  const { ghost, target } = sceneGhosts({
    step: 3,
    person: "B",
    actions: { A: "east", B: "west", C: "stay" },
    outcomes: { A: "moved", B: "blocked_conflict", C: "stayed" },
    involved: ["B", "A"],
    target: [4, 5],
    sentence: "",
    rule: "R1",
  });
  assert.deepEqual([...(ghost ?? [])], [
    ["B", { action: "west", prediction: "blocked_conflict" }],
    ["A", { action: "east", prediction: "moved" }],
  ]);
  assert.deepEqual(target, { row: 4, col: 5 });
  assert.deepEqual(sceneGhosts(null), { ghost: null, target: null });
});

test("a crop stays inside the plan and is never larger than it", () => {
  const plan = { width: 20, height: 5 };
  const most = { rows: 7, cols: 9 };
  assert.deepEqual(cropAround(plan, { row: 2, col: 10 }, most), { row: 0, col: 6, rows: 5, cols: 9 });
  assert.deepEqual(cropAround(plan, { row: 0, col: 0 }, most), { row: 0, col: 0, rows: 5, cols: 9 });
  assert.deepEqual(cropAround(plan, { row: 4, col: 19 }, most), { row: 0, col: 11, rows: 5, cols: 9 });
});

test("the claimed end of a step has the people and flames of the record, and only those", () => {
  /** @typedef {import("../../static/js/lib/view.js").View} View */
  const person = (/** @type {string} */ id, /** @type {number} */ row, /** @type {number} */ col) =>
    ({ id, row, col, status: /** @type {const} */ ("active"), since: 0 });
  /** @type {View} */
  const view = {
    width: 3, height: 1, walls: new Uint8Array(3), exits: [], step: 4, spreadInterval: 1,
    people: [person("A", 0, 0), person("B", 0, 1)], burn: Int32Array.of(-1, 4, 0),
  };
  /** @type {import("../../static/js/lib/replay.js").Parting} */
  const parting = {
    step: 4, moment: "end", people: { B: [[0, 0], "evacuated"] }, claimed_ignitions: [[0, 0]],
    attempts: { A: ["east", "moved", "blocked_fire"], B: ["stay", "", "stayed"] }, focus: [], selected: [],
  };
  const claimed = claimedView(view, parting);
  assert.deepEqual([...claimed.burn], [4, -1, 0]);
  assert.deepEqual(claimed.people[0], view.people[0]);
  assert.deepEqual(claimed.people[1], { id: "B", row: 0, col: 0, status: "evacuated", since: 4 });
  assert.deepEqual([...view.burn], [-1, 4, 0], "the replay's side is left alone");
  assert.deepEqual([...partingGhosts(parting, "record")], [["A", { action: "east", prediction: "moved" }]]);
  assert.equal(partingGhosts(parting, "replay").get("A")?.prediction, "blocked_fire");
});

test("a replay keeps its speed over pictures that come late", () => {
  assert.deepEqual(stepsDue(90, 100, 50), { steps: 0, due: 100 });
  assert.deepEqual(stepsDue(100, 100, 50), { steps: 1, due: 150 });
  assert.deepEqual(stepsDue(230, 100, 50), { steps: 3, due: 250 });
});

test("after a pause of the page a replay goes on where it stood", () => {
  assert.deepEqual(stepsDue(60_000, 100, 50), { steps: 1, due: 60_050 });
  assert.deepEqual(stepsDue(5000, 1500, 4000), { steps: 1, due: 5500 }, "3.5 s late are no pause at a step in 4 s");
});

test("a higher speed does not wait for the step of the lower one", () => {
  assert.deepEqual(stepsDue(0, 4000, 250), { steps: 0, due: 250 });
});
