// @ts-check
/**
 * The language of the episode socket, as the browser speaks it. Pure.
 *
 * @typedef {{t: string, [key: string]: any}} Frame
 */

export const PROTOCOL_VERSION = 1;

/** Seconds without a word from the server after which the board counts as out of date. */
export const STALE_AFTER_S = 10;
/** Seconds of silence after which the client asks for a sign of life. */
export const PING_AFTER_S = 4;
/** Seconds of silence after which the line counts as dead. */
export const DEAD_AFTER_S = 20;

/** What each server message must carry: name -> type of the value. */
const SHAPES = {
  welcome: { step: "number", role: "string", state: "string", watchers: "number", limits: "object" },
  snapshot: { observation: "object" },
  delta: { step: "number", moved: "array", evacuated: "array", casualties: "array", ignitions: "array" },
  ack: { step: "number", result: "string", now: "number" },
  end: { reason: "string", summary: "object" },
  crowd: { n: "number" },
  notice: { code: "string", message: "string" },
  err: { code: "string", message: "string" },
  bye: { code: "number", why: "string" },
};

/**
 * Read one frame of the server. Kinds that a newer server may add come back as null.
 * @param {unknown} text
 * @returns {Frame|null}
 * @throws {Error} where the frame is broken
 */
export function readFrame(text) {
  if (typeof text !== "string") throw new Error("expected a text frame");
  const frame = JSON.parse(text);
  if (frame === null || typeof frame !== "object" || typeof frame.t !== "string") throw new Error("expected an object with t");
  const shape = SHAPES[/** @type {keyof typeof SHAPES} */ (frame.t)];
  if (!shape) return null;
  for (const [key, type] of Object.entries(shape)) {
    const value = frame[key];
    const good = type === "array" ? Array.isArray(value) : value !== null && typeof value === type;
    if (!good) throw new Error(`${frame.t}.${key}: expected ${type}`);
  }
  return frame;
}

/** @param {number|null} step last step that the client holds, null for none */
export function hello(step) {
  return JSON.stringify({ t: "hello", v: PROTOCOL_VERSION, have: step === null ? null : { step } });
}

/**
 * @param {number} step number of the step to make, from 1
 * @param {Record<string, string>} actions one for each active person
 * @param {number} assist help used so far: 0, 1 or 2
 */
export function act(step, actions, assist) {
  return JSON.stringify({ t: "act", step, actions, assist });
}

export const SYNC = JSON.stringify({ t: "sync" });
export const PING = JSON.stringify({ t: "ping" });

/** @param {number} step */
export function got(step) {
  return JSON.stringify({ t: "got", step });
}

/**
 * @typedef {{retry: boolean, takeOver: boolean, over: boolean, why: string}} CloseMeaning
 * @type {Record<number, CloseMeaning>}
 */
const CLOSES = {
  1012: { retry: true, takeOver: false, over: false, why: "The server restarts." },
  1013: { retry: true, takeOver: false, over: false, why: "The server is busy." },
  4400: { retry: false, takeOver: false, over: false, why: "The server did not understand this page. Reload it." },
  4401: { retry: false, takeOver: false, over: false, why: "You are signed out. Sign in and come back to this page." },
  4403: { retry: false, takeOver: false, over: false, why: "You may not see this episode." },
  4404: { retry: false, takeOver: false, over: false, why: "There is no such episode." },
  4408: { retry: true, takeOver: false, over: false, why: "The line is too slow." },
  4409: { retry: false, takeOver: true, over: false, why: "You play this episode in another window." },
  4410: { retry: false, takeOver: false, over: true, why: "The episode is over." },
  4429: { retry: false, takeOver: true, over: false, why: "Too many open pages or messages. Close some and try again." },
};

/**
 * What a close code means for the client. Unknown codes, 1006 among them, mean a lost line.
 * @param {number} code
 * @returns {CloseMeaning}
 */
export function closeMeaning(code) {
  return CLOSES[code] || { retry: true, takeOver: false, over: false, why: "The connection was lost." };
}

/**
 * Milliseconds to wait before attempt number `attempt` (from 0): doubling from half a second to
 * 15 seconds, spread over the upper half so that many clients do not come back at once.
 * @param {number} attempt
 * @param {number} random in [0, 1)
 */
export function backoffMs(attempt, random) {
  const ceiling = Math.min(15000, 500 * 2 ** Math.min(attempt, 10));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
