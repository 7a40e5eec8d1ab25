// @ts-check
/**
 * What a watcher has seen of a running episode, to look back while it goes on. Pure: it keeps the
 * frames that came, asks nobody for older ones and invents none between them.
 *
 * @typedef {import("./view.js").View} View
 */

/** Most frames kept, and most bytes that they take; the oldest go first. */
const FRAMES_KEPT = 3000;
const BYTES_KEPT = 128 * 2 ** 20;
/** What a person takes in a frame: a reference, and an object of its own where something changed. About. */
const REFERENCE_BYTES = 8;
const PERSON_BYTES = 64;

/** @typedef {{does: string, text: string, shown: string[], keys: string[]}} WatchKey */

/**
 * The keys of watching: one table that binds them and that the help below the board is made from.
 * @type {WatchKey[]}
 */
export const WATCH_KEYS = [
  { does: "back", text: "", shown: ["←"], keys: ["ArrowLeft"] },
  { does: "forward", text: "one step, with Shift ten", shown: ["→"], keys: ["ArrowRight"] },
  { does: "toggle", text: "hold or play on", shown: ["Space"], keys: [" "] },
  { does: "first", text: "first step here", shown: ["Home"], keys: ["Home"] },
  { does: "live", text: "go live", shown: ["L", "End"], keys: ["l", "L", "End"] },
];

export class Rewind {
  /**
   * @param {number} [kept] frames
   * @param {number} [bytes]
   */
  constructor(kept = FRAMES_KEPT, bytes = BYTES_KEPT) {
    this.kept = kept;
    this.bytes = bytes;
    /** @type {View[]} */
    this.frames = [];
    /** @type {number[]} bytes of each frame beyond those of the one before */
    this.sizes = [];
    this.size = 0;
    /** @type {number|null} the frame looked at; null follows the newest */
    this.held = null;
  }

  /** Whether the newest frame is shown, and the next one will be. */
  get live() {
    return this.held === null;
  }

  /** The number of the frame that is shown, from 0; -1 before the first came. */
  get index() {
    return this.held ?? this.frames.length - 1;
  }

  /** @returns {View|null} the frame to show */
  get view() {
    return this.frames[this.index] ?? null;
  }

  /** How many steps the shown frame is behind the newest. */
  get behind() {
    const newest = this.frames[this.frames.length - 1];
    return newest && this.view ? newest.step - this.view.step : 0;
  }

  /**
   * The steps before the shown frame that never came, because the line was down or too slow.
   * @returns {[number, number]|null} first and last of them
   */
  get missed() {
    const before = this.frames[this.index - 1];
    if (!before || !this.view || this.view.step === before.step + 1) return null;
    return [before.step + 1, this.view.step - 1];
  }

  /**
   * Take in what the line shows now.
   * @param {View} view
   */
  see(view) {
    const newest = this.frames[this.frames.length - 1];
    if (newest && view.step < newest.step) return;
    if (newest && view.step === newest.step) {
      this.frames.pop();
      this.size -= this.sizes.pop() ?? 0;
    }
    const size = bytesBeyond(view, this.frames[this.frames.length - 1]);
    this.frames.push(view);
    this.sizes.push(size);
    this.size += size;
    while (this.frames.length > this.kept || (this.size > this.bytes && this.frames.length > 1)) this.forget();
  }

  /** Let the oldest frame go. */
  forget() {
    this.frames.shift();
    this.size -= this.sizes.shift() ?? 0;
    if (this.held !== null) this.held = Math.max(0, this.held - 1);
  }

  /**
   * Hold a frame; numbers outside are brought inside.
   * @param {number} index
   */
  hold(index) {
    if (!this.frames.length) return;
    this.held = Math.max(0, Math.min(this.frames.length - 1, Math.trunc(index) || 0));
  }

  /**
   * Hold the frame so many further on. Going on from the newest one goes live.
   * @param {number} by negative to look back
   */
  move(by) {
    if (by > 0 && this.index + by >= this.frames.length) this.goLive();
    else this.hold(this.index + by);
  }

  goLive() {
    this.held = null;
  }
}

/**
 * About how many bytes a frame takes that the one before it does not take already.
 * @param {View} view
 * @param {View} [before]
 */
function bytesBeyond({ burn, people }, before) {
  let bytes = people.length * REFERENCE_BYTES;
  if (burn !== before?.burn) bytes += burn.byteLength;
  people.forEach((person, i) => {
    if (person !== before?.people[i]) bytes += PERSON_BYTES;
  });
  return bytes;
}

/**
 * What a key press does while watching, or an empty string.
 * @param {string} key KeyboardEvent.key
 */
export function watchKey(key) {
  return WATCH_KEYS.find((binding) => binding.keys.includes(key))?.does ?? "";
}
