// @ts-check
// The line to an episode against sockets that do what a test tells them, under a clock moved by hand.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

/** @type {any} */
const world = globalThis;
const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

/** Every socket that the line opened, the newest last. @type {FakeSocket[]} */
let sockets = [];
let nowMs = 0;

class FakeSocket {
  static OPEN = OPEN;

  /** @param {string} url */
  constructor(url) {
    this.url = url;
    this.readyState = CONNECTING;
    /** @type {any[]} */
    this.sent = [];
    this.onopen = this.onmessage = this.onclose = (/** @type {any} */ _event) => undefined;
    sockets.push(this);
  }

  /** @param {string} text */
  send(text) {
    assert.equal(this.readyState, OPEN, "a browser throws here");
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = CLOSED;
  }

  opens() {
    this.readyState = OPEN;
    this.onopen({});
  }

  /** @param {object[]} frames */
  says(...frames) {
    for (const frame of frames) this.onmessage({ data: JSON.stringify(frame) });
  }

  /** @param {number} code */
  ends(code) {
    this.readyState = CLOSED;
    this.onclose({ code, reason: "" });
  }
}

const happenings = new EventTarget();
world.WebSocket = FakeSocket;
world.location = { href: "http://site.test/live/" };
world.addEventListener = happenings.addEventListener.bind(happenings);
world.document = { addEventListener: world.addEventListener, visibilityState: "visible" };
Object.defineProperty(world, "performance", { value: { now: () => nowMs } });

const { followEpisode } = await import("../../static/js/socket.js");
const { DEAD_AFTER_S, PING_AFTER_S, STALE_AFTER_S } = await import("../../static/js/lib/protocol.js");

const observation = {
  step: 0,
  map: { width: 3, height: 1, obstacles: [], exits: [{ id: "E", position: [0, 2] }] },
  rules: { spread_interval: 1 },
  people: [{ id: "A", position: [0, 0], status: "active" }],
  burning: [],
};
const welcome = { t: "welcome", v: 1, step: 0, role: "player", state: "running", watchers: 0, limits: {} };
const snapshot = { t: "snapshot", observation };
const east = { A: "east" };
/** @param {number} step */
const moved = (step) => ({ t: "delta", step, moved: [["A", 0, step]], evacuated: [], casualties: [], ignitions: [] });

/** @type {ReturnType<typeof followEpisode>} */
let line;
/** @type {boolean[]} whether the board was out of date, each time that something changed */
let stales = [];

beforeEach(() => {
  sockets = [];
  stales = [];
  line = followEpisode("/ws/episodes/1/", { changed: (_episode, _before, stale) => stales.push(stale) });
});
afterEach(() => line.close());

/** The newest socket. */
const newest = () => sockets[sockets.length - 1];

/** @param {number} seconds */
function wait(seconds) {
  nowMs += seconds * 1000;
  line.tick();
}

/** Open the newest socket and greet. @param {object[]} frames */
function greet(...frames) {
  newest().opens();
  newest().says(welcome, ...frames);
}

test("it says hello with nothing in hand, then with the step it holds", () => {
  greet(snapshot, moved(1));
  assert.deepEqual(sockets[0].sent, [{ t: "hello", v: 1, have: null }]);
  newest().ends(1006);
  wait(1);
  newest().opens();
  assert.deepEqual(newest().sent, [{ t: "hello", v: 1, have: { step: 1 } }]);
});

test("a step whose answer was lost is sent again after the next welcome, and only once it is greeted", () => {
  greet(snapshot);
  assert.equal(line.act(east, 0), true);
  assert.equal(line.act(east, 0), false, "one step at a time");
  newest().ends(1006);
  assert.equal(line.act(east, 0), false, "no line, no step");
  wait(1);
  newest().opens();
  assert.deepEqual(newest().sent.map(({ t }) => t), ["hello"]);
  newest().says({ ...welcome, step: 1 }, moved(1));
  assert.deepEqual(newest().sent[1], { t: "act", step: 1, actions: east, assist: 0 });
  newest().says({ t: "ack", step: 1, result: "duplicate", now: 1 });
  assert.equal(line.episode.pending, null);
  assert.equal(line.ready, true);
});

test("taking over again and again leaves one socket open, and only that one is heard", () => {
  greet(snapshot);
  newest().ends(4409);
  assert.equal(line.episode.phase, "stopped");
  line.takeOver();
  line.takeOver();
  const [, early, late] = sockets;
  assert.equal(early.readyState, CLOSED);
  early.onopen({});
  assert.deepEqual(early.sent, []);
  late.opens();
  late.says(welcome);
  early.onclose({ code: 4409, reason: "" });
  assert.equal(line.episode.phase, "live");
});

test("silence is asked about, then marked, then taken for a dead line", () => {
  greet(snapshot);
  wait(PING_AFTER_S + 1);
  assert.deepEqual(newest().sent.at(-1), { t: "ping" });
  assert.equal(line.ready, true);
  wait(STALE_AFTER_S - PING_AFTER_S);
  assert.equal(stales.at(-1), true);
  assert.equal(line.act(east, 0), false, "a board out of date takes no orders");
  wait(DEAD_AFTER_S);
  assert.equal(sockets[0].readyState, CLOSED);
  assert.equal(line.episode.phase, "reconnecting");
});

test("a page that slept asks first, and gives the line up only if nobody answers", () => {
  greet(snapshot);
  wait(60);
  assert.deepEqual(newest().sent.at(-1), { t: "ping" });
  assert.deepEqual([sockets.length, line.ready], [1, true]);
  newest().says({ t: "notice", code: "pong", step: 0, message: "" });
  wait(60);
  assert.deepEqual([newest().sent.filter(({ t }) => t === "ping").length, line.ready], [2, true]);
  wait(60);
  assert.equal(sockets[0].readyState, CLOSED);
  assert.equal(line.episode.phase, "reconnecting");
});

test("a frame whose content makes no sense changes nothing and asks once for the state", () => {
  const { error } = console;
  console.error = () => undefined;
  greet(snapshot);
  const { view } = line.episode;
  newest().says({ t: "snapshot", observation: {} }, { t: "delta", step: 1, moved: [null], evacuated: [], casualties: [], ignitions: [] });
  console.error = error;
  assert.equal(line.episode.view, view);
  assert.equal(newest().sent.filter(({ t }) => t === "sync").length, 1);
  newest().says(snapshot);
  assert.equal(line.ready, true);
});

test("a line that never opens is given up and tried again", () => {
  wait(DEAD_AFTER_S + 1);
  assert.equal(sockets[0].readyState, CLOSED);
  assert.equal(line.episode.phase, "reconnecting");
  wait(1);
  assert.equal(sockets.length, 2);
  greet(snapshot);
  assert.equal(line.episode.phase, "live");
});

test("the pauses grow while nobody answers and begin anew after a steady line", () => {
  const paused = () => {
    newest().ends(1006);
    return line.retryInS;
  };
  const pauses = Array.from({ length: 6 }, () => {
    const pause = paused();
    wait(pause + 0.01);
    return pause;
  });
  for (const [i, pause] of pauses.entries()) {
    const most = Math.min(15, 0.5 * 2 ** i);
    assert.ok(pause < most + 0.01 && pause > most / 2 - 0.01, `pause ${i}: ${pause}`);
  }
  greet(snapshot);
  nowMs += 60_000;
  assert.ok(paused() < 0.51);
});

test("a gap is closed by one snapshot that is asked for once", () => {
  greet(snapshot, moved(1), moved(3), moved(4));
  assert.deepEqual(newest().sent.filter(({ t }) => t === "sync").length, 1);
  assert.equal(line.episode.view?.step, 1);
  newest().says({ ...snapshot, observation: { ...observation, step: 4 } });
  assert.equal(line.episode.view?.step, 4);
});

for (const kind of ["online", "visibilitychange"]) {
  test(`a lost line comes back at once by ${kind}, a closed one does not`, () => {
    greet(snapshot);
    newest().ends(1006);
    happenings.dispatchEvent(new Event(kind));
    assert.equal(sockets.length, 2);
    newest().ends(1006);
    line.close();
    happenings.dispatchEvent(new Event(kind));
    assert.equal(sockets.length, 2);
  });
}

test("a line that was closed stays closed", () => {
  greet(snapshot);
  line.close();
  newest().onclose({ code: 1006, reason: "" });
  wait(60);
  assert.equal(sockets.length, 1);
});
