// @ts-check
// What pages ask the server: polls, scenes of refused rows, the speed of a baseline, against answers of a test.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

/** @type {any} */
const world = globalThis;
const happenings = new EventTarget();
world.addEventListener = happenings.addEventListener.bind(happenings);
world.removeEventListener = happenings.removeEventListener.bind(happenings);
world.document = { hidden: false, addEventListener: world.addEventListener, removeEventListener: world.removeEventListener };
world.HTMLElement = class {};
/** What waits for its time, by its number. @type {Map<number, {run: () => void, ms: number}>} */
const timers = new Map();
let numbers = 0;
world.setTimeout = (/** @type {() => void} */ run, /** @type {number} */ ms) => {
  timers.set(++numbers, { run, ms });
  return numbers;
};
world.clearTimeout = (/** @type {number} */ id) => timers.delete(id);
/** Requests that were made, with what answers them. @type {{url: string, signal: AbortSignal, answer: (given: any) => void}[]} */
let asked = [];
world.fetch = (/** @type {string} */ url, /** @type {any} */ { signal }) =>
  new Promise((answer) => asked.push({ url, signal, answer }));
/** The newest observer tells of every row at once. @type {any[]} */
let observed = [];
/** @type {(entries: object[]) => void} */
let seen = () => undefined;
world.IntersectionObserver = class {
  /** @param {typeof seen} tell */
  constructor(tell) {
    seen = tell;
  }

  /** @param {any} row */
  observe(row) {
    observed.push(row);
  }

  /** @param {any} row */
  unobserve(row) {
    observed = observed.filter((one) => one !== row);
  }
};

world.HTMLSelectElement = class extends EventTarget {
  value = "4";
  form = { action: "/speed" };
  options = ["1", "4", "8", "20"].map((value) => ({ value }));
};
world.FormData = class {};
/** @type {any} */
let select = null;
world.document.querySelector = () => select;
world.document.getElementById = () => null;

const { bindSpeed, showSpeed } = await import("../../static/js/play/speed.js");
const { pollUntil } = await import("../../static/js/poll.js");
const { watchScenes } = await import("../../static/js/run/scene.js");

beforeEach(() => {
  timers.clear();
  asked = [];
  observed = [];
});

/** Let what was promised come about. */
const settle = async () => {
  for (let i = 0; i < 10; i += 1) await undefined;
};

/** The pause until the next question. */
const pause = () => [...timers.values()][0]?.ms;

/** Ask now instead of after the pause. */
function ask() {
  const [[id, { run }]] = timers;
  timers.delete(id);
  run();
}

/** @param {any} data */
async function answer(data) {
  asked[asked.length - 1].answer({ ok: true, json: async () => data });
  await settle();
}

test("a poll asks slower and slower, quick again after news, and no more once it knows", async () => {
  pollUntil("/status", ({ said }) => said);
  const first = pause();
  ask();
  await answer({ said: false });
  const second = pause();
  assert.ok(second > first);
  ask();
  await answer({ said: "again" });
  assert.equal(pause(), first);
  ask();
  await answer({ said: true });
  assert.equal(timers.size, 0);
  happenings.dispatchEvent(new Event("online"));
  assert.equal(asked.length, 3);
});

test("a poll has one question at a time and gives up one that nobody answers", async () => {
  /** @type {string[]} */
  const troubles = [];
  pollUntil("/status", () => true, { onTrouble: (text) => void troubles.push(text) });
  ask();
  happenings.dispatchEvent(new Event("online"));
  assert.equal(asked.length, 1);
  assert.ok(asked[0].signal instanceof AbortSignal);
  asked[0].answer(Promise.reject(new Error("timed out")));
  await settle();
  assert.deepEqual(troubles, ["timed out"]);
  happenings.dispatchEvent(new Event("online"));
  assert.equal(asked.length, 2);
  await answer({});
  assert.deepEqual(troubles, ["timed out", ""]);
});

test("the scene of a row is asked for once, however often its neighbours change", () => {
  /** @type {any} */
  const figure = Object.assign(new world.HTMLElement(), { dataset: { scene: "/track" } });
  /** @type {any} */
  const row = { querySelector: () => figure };
  figure.closest = () => row;
  /** @type {any} */
  const root = { querySelectorAll: () => [figure] };
  watchScenes(root);
  seen(observed.map((target) => ({ isIntersecting: true, target })));
  watchScenes(root);
  seen(observed.map((target) => ({ isIntersecting: true, target })));
  assert.deepEqual(asked.map(({ url }) => url), ["/track"]);
});

test("choices of a speed are sent one after another, and one that fails is taken back", async () => {
  select = new world.HTMLSelectElement();
  /** @type {string[]} */
  const said = [];
  bindSpeed((text) => said.push(text));
  const choose = (/** @type {string} */ value) => {
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };
  choose("8");
  choose("20");
  await settle();
  assert.equal(asked.length, 1);
  await answer({});
  assert.equal(asked.length, 2);
  asked[1].answer({ ok: false });
  await settle();
  assert.deepEqual([select.value, said.length], ["8", 1]);
  showSpeed(1);
  choose("20");
  await settle();
  asked[2].answer(Promise.reject(new Error("no line")));
  await settle();
  assert.deepEqual([select.value, said.length], ["1", 2]);
});
