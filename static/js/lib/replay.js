// @ts-check
// Arithmetic of the replay page: counts by step, steps from text, lines of the chart. Pure; runs under node.

/** @typedef {import("./view.js").Track} Track */
/** @typedef {{out: Uint32Array, lost: Uint32Array, inside: Uint32Array}} Curves */

/**
 * The step at which a record and its replay part, about one person; people stand as before the step.
 * @typedef {object} Scene
 * @property {number} step from 1
 * @property {string} person
 * @property {Record<string, string>} actions
 * @property {Record<string, string>} outcomes
 * @property {string[]} involved
 * @property {[number, number] | null} target
 * @property {string} sentence
 * @property {string} rule
 */

/**
 * What the board draws for a scene: ghost arrows of those involved, and the cell that is aimed at.
 * @param {Scene | null} scene
 */
export function sceneGhosts(scene) {
  if (!scene) return { ghost: null, target: null };
  const ghost = new Map(
    scene.involved.map((id) => [id, { action: scene.actions[id], prediction: scene.outcomes[id] }]),
  );
  return { ghost, target: scene.target && { row: scene.target[0], col: scene.target[1] } };
}

/**
 * All in which a record and its replay differ at one step, counted from 1.
 * @typedef {object} Parting
 * @property {number} step
 * @property {"start" | "end" | "none"} moment whether to show who tries what, or what came of it
 * @property {Record<string, [[number, number], import("./view.js").Status]>} people as the record places them
 * @property {[number, number][]} claimed_ignitions
 * @property {Record<string, [string, string, string]>} attempts action, claimed outcome, replayed outcome
 * @property {[number, number][]} focus
 * @property {string[]} selected
 */

/**
 * The end of a step as the record claims it: the replay's, with the people and flames that the record has.
 * @param {import("./view.js").View} view the replay's at the end of the step
 * @param {Parting} parting
 * @returns {import("./view.js").View}
 */
export function claimedView(view, parting) {
  const people = view.people.map((person) => {
    const claim = parting.people[person.id];
    if (!claim) return person;
    const [[row, col], status] = claim;
    return { ...person, row, col, status, since: status === "active" ? 0 : parting.step };
  });
  const burn = view.burn.map((since) => (since === parting.step ? -1 : since));
  for (const [row, col] of parting.claimed_ignitions) burn[row * view.width + col] = parting.step;
  return { ...view, people, burn };
}

/**
 * Ghost arrows of one side of a parting.
 * @param {Parting} parting
 * @param {"record" | "replay"} side
 */
export function partingGhosts(parting, side) {
  const ghosts = new Map();
  for (const [id, [action, claimed, replayed]] of Object.entries(parting.attempts)) {
    const prediction = side === "record" ? claimed : replayed;
    if (prediction) ghosts.set(id, { action, prediction });
  }
  return ghosts;
}

/**
 * The part of a plan to show around a cell: at most so many rows and columns, inside the plan.
 * @param {{width: number, height: number}} plan
 * @param {{row: number, col: number}} centre
 * @param {{rows: number, cols: number}} most
 */
export function cropAround(plan, centre, most) {
  const rows = Math.min(plan.height, most.rows);
  const cols = Math.min(plan.width, most.cols);
  const row = Math.max(0, Math.min(plan.height - rows, centre.row - Math.floor(rows / 2)));
  const col = Math.max(0, Math.min(plan.width - cols, centre.col - Math.floor(cols / 2)));
  return { row, col, rows, cols };
}

/**
 * People out, lost and inside after each step, from 0 to the last.
 * @param {Track} track
 * @returns {Curves}
 */
export function curves(track) {
  const size = track.steps + 1;
  const out = new Uint32Array(size);
  const lost = new Uint32Array(size);
  const inside = new Uint32Array(size);
  for (const { status, end_step: end } of track.people) {
    if (end === null) continue;
    if (status === "evacuated") out[end]++;
    if (status === "casualty") lost[end]++;
  }
  for (let step = 0; step < size; step++) {
    if (step > 0) {
      out[step] += out[step - 1];
      lost[step] += lost[step - 1];
    }
    inside[step] = track.people.length - out[step] - lost[step];
  }
  return { out, lost, inside };
}

/**
 * A step as written in an address. What is no step of the run is clamped, and the note says so.
 * @param {string | null} text
 * @param {number} steps the last step
 * @returns {{step: number, note: string}}
 */
export function stepFromText(text, steps) {
  if (text === null || text === "") return { step: 0, note: "" };
  const asked = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(asked)) return { step: 0, note: `“${text.slice(0, 20)}” is not a step; this is the first.` };
  if (asked > steps) return { step: steps, note: `The run has no step ${asked}; this is the last.` };
  if (asked < 0) return { step: 0, note: `The run has no step ${asked}; this is the first.` };
  return { step: asked, note: "" };
}

/** What comes later than this comes after a pause of the page, not from a slow screen. */
const ASLEEP_MS = 1000;

/**
 * How many steps a replay goes on at a picture, and when the next one is due. After a pause of the page, as of a
 * tab in the background, it goes on where it stood; a higher speed counts at once.
 * @param {number} now in milliseconds, as the rest
 * @param {number} due when the next step was to come
 * @param {number} interval between two steps
 * @returns {{steps: number, due: number}}
 */
export function stepsDue(now, due, interval) {
  const late = now - due;
  if (late < 0) return { steps: 0, due: Math.min(due, now + interval) };
  if (late > Math.max(ASLEEP_MS, interval)) return { steps: 1, due: now + interval };
  const steps = Math.floor(late / interval) + 1;
  return { steps, due: due + steps * interval };
}

/**
 * A line through values, as the data of an SVG path, with at most so many points.
 * @param {Uint32Array} values
 * @param {(index: number) => number} x
 * @param {(value: number) => number} y
 * @param {number} [most]
 * @returns {string}
 */
export function linePath(values, x, y, most = 600) {
  const last = values.length - 1;
  const stride = Math.max(1, Math.ceil(values.length / most));
  /** @type {string[]} */
  const parts = [];
  for (let i = 0; i < last; i += stride) parts.push(`${x(i).toFixed(1)} ${y(values[i]).toFixed(1)}`);
  parts.push(`${x(last).toFixed(1)} ${y(values[last]).toFixed(1)}`);
  return `M${parts.join("L")}`;
}

/**
 * The heights at which labels stand, moved apart so that none covers another.
 * @param {number[]} wanted from any order
 * @param {number} gap least distance
 * @param {number} bottom largest height allowed
 * @returns {number[]} in the order of `wanted`
 */
export function spreadLabels(wanted, gap, bottom) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  /** @type {number[]} */
  const placed = new Array(wanted.length);
  let floor = -Infinity;
  for (const i of order) floor = placed[i] = Math.max(wanted[i], floor + gap);
  let ceiling = bottom;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], ceiling);
    ceiling = placed[i] - gap;
  }
  return placed;
}
