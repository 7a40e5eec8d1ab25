// @ts-check
// Looking back at a running episode: only frames that came, and a way back to the present.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rewind, WATCH_KEYS, watchKey } from "../../static/js/lib/rewind.js";

/** @param {number} step @param {object} [values] @returns {any} */
const frame = (step, values) => ({ step, people: [], burn: new Int32Array(0), ...values });

/** @param {number[]} steps @param {number} [kept] */
function seen(steps, kept) {
  const rewind = new Rewind(kept);
  for (const step of steps) rewind.see(frame(step));
  return rewind;
}

test("nothing is shown before the first frame", () => {
  const rewind = new Rewind();
  rewind.move(-1);
  rewind.hold(3);
  assert.equal(rewind.view, null);
  assert.equal(rewind.live, true);
  assert.equal(rewind.behind, 0);
});

test("live, the newest frame is shown", () => {
  const rewind = seen([4, 5, 6]);
  assert.equal(rewind.view?.step, 6);
  assert.deepEqual([rewind.live, rewind.behind, rewind.missed], [true, 0, null]);
});

test("a held frame stays while the episode goes on", () => {
  const rewind = seen([0, 1, 2, 3]);
  rewind.move(-2);
  rewind.see(frame(4));
  assert.deepEqual([rewind.view?.step, rewind.behind, rewind.live], [1, 3, false]);
  rewind.goLive();
  assert.equal(rewind.view?.step, 4);
});

test("stepping on from the newest frame goes live", () => {
  const rewind = seen([0, 1, 2]);
  rewind.move(-1);
  rewind.move(1);
  assert.deepEqual([rewind.view?.step, rewind.live], [2, false]);
  rewind.move(1);
  assert.equal(rewind.live, true);
  rewind.hold(0);
  rewind.move(10);
  assert.equal(rewind.live, true);
});

test("what lies outside is brought inside", () => {
  const rewind = seen([7, 8, 9]);
  for (const [asked, step] of [[-5, 7], [99, 9], [NaN, 7], [1.9, 8]]) {
    rewind.hold(asked);
    assert.equal(rewind.view?.step, step);
  }
});

test("steps that never came are named", () => {
  const rewind = seen([0, 1, 5, 6]);
  rewind.hold(2);
  assert.deepEqual(rewind.missed, [2, 4]);
  rewind.hold(3);
  assert.equal(rewind.missed, null);
});

test("a snapshot of the same step replaces its frame, an older one is passed over", () => {
  const rewind = seen([0, 1]);
  const again = frame(1);
  rewind.see(again);
  rewind.see(frame(0));
  assert.equal(rewind.frames.length, 2);
  assert.equal(rewind.view, again);
});

test("memory is bounded and the held frame stays as long as it is kept", () => {
  const rewind = seen([0, 1, 2, 3], 4);
  rewind.hold(2);
  rewind.see(frame(4));
  assert.deepEqual([rewind.frames.length, rewind.view?.step], [4, 2]);
  for (const step of [5, 6, 7, 8]) rewind.see(frame(step));
  assert.equal(rewind.view?.step, 5);
});

test("of large boards fewer frames are kept, and what frames share counts once", () => {
  const kilobyte = () => new Int32Array(256);
  const changing = new Rewind(100, 5 * 1024);
  for (let step = 0; step < 50; step += 1) changing.see(frame(step, { burn: kilobyte() }));
  assert.deepEqual([changing.frames.length, changing.view?.step], [5, 49]);
  const still = new Rewind(100, 5 * 1024);
  const burn = kilobyte();
  for (let step = 0; step < 50; step += 1) still.see(frame(step, { burn }));
  assert.equal(still.frames.length, 50);
  for (let i = 0; i < 9; i += 1) still.see(frame(49, { burn: kilobyte() }));
  assert.equal(still.frames.length, 50, "a frame that is replaced counts no more");
  const huge = new Rewind(100, 10);
  huge.see(frame(0, { burn }));
  assert.equal(huge.frames.length, 1, "the newest is kept, whatever it takes");
});

test("every key of the table does what it says, others nothing", () => {
  for (const { does, keys } of WATCH_KEYS) for (const key of keys) assert.equal(watchKey(key), does);
  assert.equal(watchKey("x"), "");
});
