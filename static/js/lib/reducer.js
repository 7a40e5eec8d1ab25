// @ts-check
/**
 * The state of one followed episode as a fold of what the server said. Pure.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {import("./orders.js").Rules} Rules
 * @typedef {import("./protocol.js").Frame} Frame
 * @typedef {{step: number, actions: Record<string, string>, assist: number}} Pending
 * @typedef {{
 *   phase: "connecting"|"live"|"reconnecting"|"stopped"|"over",
 *   role: string, paused: boolean, view: View|null, rules: Rules|null, watchers: number,
 *   pending: Pending|null, ack: Frame|null, end: Frame|null, notice: Frame|null,
 *   why: string, takeOver: boolean, halted: boolean, needSync: boolean
 * }} Episode
 */

import { applyDelta, viewFromObservation } from "./view.js";
import { closeMeaning } from "./protocol.js";

/** What it means that an episode takes no more steps without having ended: states and notices of the server. */
const HALTS = new Map([
  ["frozen", "This episode is frozen because of a fault on our side."],
  ["abandoned", "This episode was given up, because nobody went on with it."],
]);

/** @returns {Episode} the state before anything was heard */
export function initialEpisode() {
  return {
    phase: "connecting",
    role: "",
    paused: false,
    view: null,
    rules: null,
    watchers: 0,
    pending: null,
    ack: null,
    end: null,
    notice: null,
    why: "",
    takeOver: false,
    halted: false,
    needSync: false,
  };
}

/**
 * The state after one more frame. Deltas that are already known change nothing; one that leaves
 * a gap sets `needSync` and changes nothing else.
 * @param {Episode} episode
 * @param {Frame} frame
 * @returns {Episode}
 */
export function hear(episode, frame) {
  switch (frame.t) {
    case "welcome":
      return hearWelcome(episode, frame);
    case "snapshot":
      return {
        ...episode,
        view: viewFromObservation(frame.observation, episode.view),
        rules: frame.observation.rules,
        needSync: false,
      };
    case "delta":
      return hearDelta(episode, frame);
    case "ack":
      return hearAck(episode, frame);
    case "end":
      return { ...episode, phase: "over", end: frame, pending: null };
    case "crowd":
      return { ...episode, watchers: frame.n };
    case "notice":
      return hearNotice(episode, frame);
    case "err":
      // A step that was refused as a message gets no ack: to wait for one would take no orders for ever.
      return { ...episode, notice: frame, pending: null };
    default:
      return episode;
  }
}

/** @param {Episode} episode @param {Frame} frame @returns {Episode} */
function hearWelcome(episode, frame) {
  const live = {
    ...episode,
    role: frame.role,
    paused: frame.state === "paused",
    watchers: frame.watchers,
    why: "",
    takeOver: false,
    needSync: false,
  };
  const halt = HALTS.get(frame.state);
  return halt ? halted(live, halt) : { ...live, phase: "live" };
}

/**
 * Stopped for good, though the line is there.
 * @param {Episode} episode
 * @param {string} why
 * @returns {Episode}
 */
function halted(episode, why) {
  return { ...episode, phase: "stopped", halted: true, takeOver: false, pending: null, why };
}

/** @param {Episode} episode @param {Frame} frame @returns {Episode} */
function hearDelta(episode, frame) {
  if (!episode.view) return { ...episode, needSync: true };
  if (frame.step <= episode.view.step) return episode;
  if (frame.step !== episode.view.step + 1) return { ...episode, needSync: true };
  return { ...episode, view: applyDelta(episode.view, /** @type {any} */ (frame)), paused: false };
}

/** @param {Episode} episode @param {Frame} frame @returns {Episode} */
function hearAck(episode, frame) {
  const own = episode.pending !== null && episode.pending.step === frame.step;
  const behind = episode.view !== null && frame.now > episode.view.step;
  const after = {
    ...episode,
    ack: frame,
    pending: own ? null : episode.pending,
    needSync: episode.needSync || behind,
  };
  return frame.code === "episode_frozen" ? halted(after, frame.message ?? "") : after;
}

/** @param {Episode} episode @param {Frame} frame @returns {Episode} */
function hearNotice(episode, frame) {
  if (frame.code === "pong") {
    const behind = typeof frame.step === "number" && episode.view !== null && frame.step > episode.view.step;
    return behind ? { ...episode, needSync: true } : episode;
  }
  if (frame.code === "paused") return { ...episode, paused: true, notice: frame };
  if (frame.code === "resumed") return { ...episode, paused: false, notice: frame };
  if (frame.code === "episode_frozen" || frame.code === "abandoned") return halted(episode, frame.message);
  return { ...episode, notice: frame };
}

/**
 * The state after the socket closed.
 * @param {Episode} episode
 * @param {number} code
 * @param {string} why what the server said, empty where it could not
 * @returns {Episode}
 */
export function hangUp(episode, code, why) {
  const meaning = closeMeaning(code);
  const text = why || meaning.why;
  if (episode.halted) return episode;
  if (episode.end || meaning.over) return { ...episode, phase: "over", why: text };
  if (meaning.retry) return { ...episode, phase: "reconnecting", why: text };
  return { ...episode, phase: "stopped", why: text, takeOver: meaning.takeOver };
}

/**
 * The state after the client sent a step; it stays pending until its ack comes.
 * @param {Episode} episode
 * @param {Pending} pending
 * @returns {Episode}
 */
export function sent(episode, pending) {
  return { ...episode, pending };
}
