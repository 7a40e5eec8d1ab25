// @ts-check
/**
 * The line to one episode: connects, says hello with what it holds, keeps a step pending until it
 * is acknowledged, comes back by itself with growing pauses, and says in which state it is.
 *
 *   const line = followEpisode(url, { changed(episode, before, stale) {…} });
 *   line.act(actions, assist)   // false where no step can be sent now
 *   line.takeOver()             // after another window took the episode
 *   line.close()
 */

import {
  DEAD_AFTER_S,
  PING,
  PING_AFTER_S,
  STALE_AFTER_S,
  SYNC,
  act,
  backoffMs,
  got,
  hello,
  readFrame,
} from "./lib/protocol.js";
import { hangUp, hear, initialEpisode, sent } from "./lib/reducer.js";

/** @typedef {import("./lib/reducer.js").Episode} Episode */
/** @typedef {{changed: (episode: Episode, before: Episode, stale: boolean) => void}} Listener */

const TICK_MS = 500;
/** At the latest from so many seconds of silence on a page asks; it asks later only where it slept. */
const ASKED_BY_S = PING_AFTER_S + 1;
const GOT_EVERY = 16;
/** A line that lived this long begins its pauses anew. */
const STEADY_MS = 5000;

/**
 * @param {string} path of the socket on this site
 * @param {Listener} listener
 */
export function followEpisode(path, listener) {
  return new Line(path, listener);
}

class Line {
  /**
   * @param {string} path
   * @param {Listener} listener
   */
  constructor(path, listener) {
    this.url = new URL(path, location.href.replace(/^http/, "ws")).href;
    this.listener = listener;
    this.episode = initialEpisode();
    /** @type {WebSocket|null} */
    this.socket = null;
    this.attempt = 0;
    this.heardAt = performance.now();
    this.asked = false;
    this.openedAt = 0;
    this.retryAt = 0;
    this.stale = false;
    this.bye = "";
    this.synced = false;
    this.told = 0;
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.ended = new AbortController();
    const { signal } = this.ended;
    addEventListener("online", () => this.hurry(), { signal });
    document.addEventListener("visibilitychange", () => this.hurry(), { signal });
    this.open();
  }

  /** @returns {boolean} whether a step could be sent now */
  get ready() {
    const { phase, role, view, pending } = this.episode;
    return phase === "live" && role === "player" && view !== null && !pending && !this.stale;
  }

  /** Seconds until the next attempt to connect, 0 where none is planned. */
  get retryInS() {
    return this.retryAt ? Math.max(0, (this.retryAt - performance.now()) / 1000) : 0;
  }

  /**
   * Send the next step.
   * @param {Record<string, string>} actions
   * @param {number} assist
   */
  act(actions, assist) {
    if (!this.ready || !this.episode.view) return false;
    const pending = { step: this.episode.view.step + 1, actions, assist };
    this.become(sent(this.episode, pending));
    this.sendPending();
    return true;
  }

  /** Play here again after another window took the episode. */
  takeOver() {
    this.attempt = 0;
    this.open();
  }

  close() {
    clearInterval(this.timer);
    this.ended.abort();
    this.drop();
  }

  /** Let go of the present socket: whatever it still says is not heard. */
  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close(1000);
  }

  open() {
    this.drop();
    this.retryAt = 0;
    this.bye = "";
    this.synced = false;
    this.asked = false;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.openedAt = this.heardAt = performance.now();
    socket.onopen = () => {
      if (this.socket === socket) socket.send(hello(this.episode.view ? this.episode.view.step : null));
    };
    socket.onmessage = (event) => {
      if (this.socket === socket) this.heard(event.data);
    };
    socket.onclose = (event) => {
      if (this.socket === socket) this.closed(event.code, this.bye || event.reason);
    };
  }

  /** @param {unknown} data */
  heard(data) {
    this.heardAt = performance.now();
    this.asked = false;
    const [frame, next] = this.read(data);
    if (!frame) return;
    if (frame.t === "bye") this.bye = frame.why;
    this.become(next);
    if (frame.t === "welcome") this.sendPending();
    if (next.needSync && !this.synced) {
      this.synced = true;
      this.socket?.send(SYNC);
    }
    if (frame.t === "snapshot") this.synced = false;
    const step = next.view?.step ?? 0;
    if (step >= this.told + GOT_EVERY) {
      this.told = step;
      this.socket?.send(got(step));
    }
  }

  /**
   * @param {unknown} data
   * @returns {[import("./lib/protocol.js").Frame|null, Episode]} the frame, null to pass it over, and the state after it
   */
  read(data) {
    try {
      const frame = readFrame(data);
      return [frame, frame ? hear(this.episode, frame) : this.episode];
    } catch (error) {
      // A frame that makes no sense: begin again from a snapshot rather than go on from a hole.
      console.error(error);
      if (!this.synced) this.socket?.send(SYNC);
      this.synced = true;
      return [null, this.episode];
    }
  }

  /**
   * @param {number} code
   * @param {string} why
   */
  closed(code, why) {
    this.socket = null;
    const next = hangUp(this.episode, code, why);
    if (next.phase === "reconnecting") {
      if (performance.now() - this.openedAt > STEADY_MS) this.attempt = 0;
      this.retryAt = performance.now() + backoffMs(this.attempt, Math.random());
      this.attempt += 1;
    }
    this.become(next);
  }

  /** The same step again is harmless: the server answers it as it did, or tells what happened. */
  sendPending() {
    const pending = this.episode.pending;
    if (!pending || this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(act(pending.step, pending.actions, pending.assist));
  }

  /** Do not wait out a pause when the network or the visitor is back. */
  hurry() {
    if (document.visibilityState === "visible" && this.episode.phase === "reconnecting" && !this.socket) this.open();
  }

  /**
   * Seconds without a word from the server. Browsers wake a page in the background once a minute, and a computer
   * that slept not at all: silence in which the page did not ask says nothing about the line.
   */
  silentS() {
    const now = performance.now();
    const open = this.socket?.readyState === WebSocket.OPEN;
    if (open && !this.asked) this.heardAt = Math.max(this.heardAt, now - ASKED_BY_S * 1000);
    return (now - this.heardAt) / 1000;
  }

  tick() {
    const silent = this.silentS();
    const { socket } = this;
    if (socket && this.episode.phase !== "over") {
      // Also a line that does not open: a browser would wait for it for minutes.
      if (silent > DEAD_AFTER_S) {
        this.drop();
        this.closed(1006, "The server went silent.");
      } else if (silent > PING_AFTER_S && socket.readyState === WebSocket.OPEN) {
        this.asked = true;
        socket.send(PING);
      }
    }
    if (this.retryAt && performance.now() >= this.retryAt) this.open();
    const stale = silent > STALE_AFTER_S && this.episode.phase !== "over";
    if (stale !== this.stale || this.retryAt) {
      this.stale = stale;
      this.listener.changed(this.episode, this.episode, this.stale);
    }
  }

  /** @param {Episode} next */
  become(next) {
    const before = this.episode;
    this.episode = next;
    this.stale = false;
    this.listener.changed(next, before, this.stale);
  }
}
