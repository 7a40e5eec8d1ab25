// @ts-check
// The episode socket in the browser: frames, the fold of them, close codes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { act, backoffMs, closeMeaning, got, hello, readFrame, PING, SYNC } from "../../static/js/lib/protocol.js";
import { hangUp, hear, initialEpisode, sent } from "../../static/js/lib/reducer.js";
import { countView } from "../../static/js/lib/view.js";

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const samples = read("../site/episodes/socket_frames.json");

/** @param {number} [upTo] the state after so many frames of the recorded game */
function played(upTo = samples.session.length) {
  return samples.session.slice(0, upTo).reduce(
    (/** @type {any} */ episode, /** @type {string} */ text) => hear(episode, readFrame(text) ?? { t: "" }),
    initialEpisode(),
  );
}

/** @param {any} [change] */
const welcome = (change = {}) => ({ t: "welcome", v: 1, step: 0, role: "player", state: "running", watchers: 0, limits: {}, ...change });

test("what the browser sends is what the server's samples hold", () => {
  const made = [
    hello(null),
    hello(7),
    act(1, { A: "east", B: "east" }, 2),
    SYNC,
    got(16),
    PING,
  ];
  assert.deepEqual(made, samples.client);
});

test("a recorded game is followed to its end", () => {
  const episode = played();
  assert.equal(episode.phase, "over");
  assert.equal(episode.role, "player");
  assert.equal(episode.pending, null);
  const { evacuated, active, casualty } = countView(episode.view);
  assert.deepEqual([evacuated, active, casualty], [2, 0, 0]);
  assert.equal(episode.end.reason, "all_resolved");
  assert.equal(typeof episode.end.seed, "string");
});

test("a delta that is known already changes nothing", () => {
  const episode = played();
  const delta = samples.session.map(readFrame).find((/** @type {any} */ frame) => frame.t === "delta");
  assert.equal(hear(episode, delta).view, episode.view);
});

test("a gap asks for the state and changes nothing else", () => {
  const episode = played(2);
  const after = hear(episode, { t: "delta", step: 3, moved: [], evacuated: [], casualties: [], ignitions: [] });
  assert.equal(after.needSync, true);
  assert.equal(after.view, episode.view);
  assert.equal(hear(after, readFrame(samples.session[1]) ?? { t: "" }).needSync, false);
});

test("an ack that speaks of a later state asks for it", () => {
  const episode = sent(played(2), { step: 1, actions: {}, assist: 0 });
  const after = hear(episode, { t: "ack", step: 1, result: "stale", now: 4, code: "step_stale" });
  assert.equal(after.pending, null);
  assert.equal(after.needSync, true);
});

test("a pong with a later step asks for the state", () => {
  assert.equal(hear(played(2), { t: "notice", code: "pong", step: 2, message: "" }).needSync, true);
  assert.equal(hear(played(2), { t: "notice", code: "pong", step: 0, message: "" }).needSync, false);
});

test("a step stays pending over a lost line", () => {
  const pending = { step: 1, actions: { A: "east" }, assist: 0 };
  const lost = hangUp(sent(played(2), pending), 1006, "");
  assert.equal(lost.phase, "reconnecting");
  assert.deepEqual(lost.pending, pending);
  assert.equal(hear(lost, welcome()).phase, "live");
  assert.deepEqual(hear(lost, welcome()).pending, pending);
  assert.equal(hear(lost, { t: "ack", step: 1, result: "duplicate", now: 1 }).pending, null);
});

test("a step that was refused as a message is not waited for", () => {
  const waiting = sent(played(2), { step: 1, actions: { A: "east" }, assist: 0 });
  const after = hear(waiting, { t: "err", code: "message_too_large", message: "A message has at most 65,536 bytes." });
  assert.equal(after.pending, null);
  assert.equal(after.notice?.code, "message_too_large");
});

test("pausing and resuming are seen", () => {
  const paused = hear(played(2), { t: "notice", code: "paused", message: "Paused." });
  assert.equal(paused.paused, true);
  assert.equal(hear(paused, { t: "notice", code: "resumed", message: "" }).paused, false);
});

test("an episode that takes no more steps stops for good, whether one was there or comes later", () => {
  const told = [
    hear(played(2), { t: "notice", code: "abandoned", message: "Given up." }),
    hear(played(2), { t: "notice", code: "episode_frozen", message: "Frozen." }),
    hear(initialEpisode(), welcome({ state: "abandoned" })),
    hear(initialEpisode(), welcome({ state: "frozen" })),
    hear(played(2), { t: "ack", step: 1, result: "rejected", now: 0, code: "episode_frozen", message: "Frozen." }),
  ];
  for (const episode of told) {
    assert.deepEqual([episode.phase, episode.halted, episode.takeOver], ["stopped", true, false]);
    assert.ok(episode.why);
    assert.deepEqual(hangUp(episode, 4410, "The episode is over."), episode);
    assert.equal(hangUp(episode, 1006, "").phase, "stopped", "nobody comes back for what cannot go on");
  }
});

test("frames that are broken are refused, unknown kinds passed over", () => {
  for (const text of ["", "[]", "null", "{}", '{"t":"delta","step":1}', '{"t":"snapshot","observation":null}', '{"t":"bye","code":"4400","why":""}']) {
    assert.throws(() => readFrame(text), Error, text);
  }
  assert.throws(() => readFrame(new ArrayBuffer(2)));
  assert.equal(readFrame('{"t":"weather","sky":"blue"}'), null);
});

test("each close code has its meaning", () => {
  for (const code of [1006, 1011, 1012, 1013, 4408]) assert.equal(closeMeaning(code).retry, true, String(code));
  for (const code of [4400, 4401, 4403, 4404, 4409, 4410, 4429]) assert.equal(closeMeaning(code).retry, false, String(code));
  assert.equal(closeMeaning(4409).takeOver, true);
  assert.equal(hangUp(played(2), 4409, "").phase, "stopped");
  assert.equal(hangUp(played(2), 4410, "").phase, "over");
  assert.equal(hangUp(played(), 1006, "").phase, "over", "a line lost after the end is no matter");
  assert.equal(hangUp(played(2), 4404, "gone").why, "gone");
});

test("pauses between attempts grow, are spread and stay bounded", () => {
  assert.deepEqual([0, 1, 2, 3].map((attempt) => backoffMs(attempt, 0)), [250, 500, 1000, 2000]);
  assert.equal(backoffMs(0, 0.999), 500);
  assert.ok(backoffMs(50, 0.999) <= 15000);
});
