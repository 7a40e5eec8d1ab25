// @ts-check
/**
 * What a player should look at: people in danger or stuck, and how the exits fill. Pure.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {import("./orders.js").Plan} Plan
 * @typedef {import("./orders.js").Rules} Rules
 * @typedef {{id: string, kind: "fire"|"cut"|"late"|"wait", text: string, row: number, col: number, rank: number}} Flag
 * @typedef {{id: string, out: number, coming: number, lastAt: number|null, burnsAt: number|null, lost: boolean}} ExitRow
 */

import { NEVER, canLeave, fireArrival, stepsToSpread } from "./orders.js";
import { isBurning } from "./view.js";

/** From how many steps before the fire a person is flagged. */
export const FIRE_SOON = 5;
/** From how many steps without progress a person is flagged. */
export const BLOCKED_LONG = 8;

/**
 * People who need a look, the most urgent first: the fire is near, no way out, their exit burns
 * before their turn comes, or they wait for long.
 * @param {View} view
 * @param {Rules} rules
 * @param {Map<string, Plan>} plans
 * @param {Map<string, number>} blocked steps in a row in which a person wanted to move and did not
 * @returns {Flag[]}
 */
export function attention(view, rules, plans, blocked) {
  const arrival = fireArrival(view, rules);
  const late = lateFor(view, arrival, plans);
  const free = canLeave(view);
  const soon = stepsToSpread(view.step, rules.spread_interval);
  /** @type {Flag[]} */
  const flags = [];
  for (const person of view.people) {
    if (person.status !== "active") continue;
    const cell = person.row * view.width + person.col;
    const at = { id: person.id, row: person.row, col: person.col };
    const left = arrival ? arrival[cell] - view.step : besideFire(view, person.row, person.col) ? soon : NEVER;
    if (left <= FIRE_SOON) {
      const text = arrival ? `burns in ${left} ${left === 1 ? "step" : "steps"}` : "fire beside it";
      flags.push({ ...at, kind: "fire", text, rank: left });
    } else if (!free[cell]) {
      flags.push({ ...at, kind: "cut", text: "no way out", rank: 100 });
    } else if (late.has(person.id)) {
      flags.push({ ...at, kind: "late", text: `too late at ${late.get(person.id)}`, rank: 200 });
    } else if ((blocked.get(person.id) || 0) >= BLOCKED_LONG) {
      const steps = blocked.get(person.id) || 0;
      flags.push({ ...at, kind: "wait", text: `waiting ${steps} steps`, rank: 1000 - Math.min(steps, 500) });
    }
  }
  return flags.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
}

/**
 * One row for each exit: who left there, who is on the way, when the last of them arrives (one a
 * step, R4) and when the exit burns, where that can be known.
 * @param {View} view
 * @param {Rules} rules
 * @param {Map<string, Plan>} plans
 * @returns {ExitRow[]}
 */
export function exitRows(view, rules, plans) {
  const arrival = fireArrival(view, rules);
  return view.exits.map((exit) => {
    const cell = exit.row * view.width + exit.col;
    const out = view.people.filter(
      (person) => person.status === "evacuated" && person.row === exit.row && person.col === exit.col,
    ).length;
    const ways = [...plans.values()].filter((plan) => plan.exit === exit.id).map((plan) => plan.distance);
    const burns = arrival && arrival[cell] !== NEVER ? arrival[cell] : null;
    return {
      id: exit.id,
      out,
      coming: ways.length,
      lastAt: ways.length ? view.step + lastThrough(ways) : null,
      burnsAt: burns,
      lost: isBurning(view, cell),
    };
  });
}

/**
 * People whose exit burns before their turn in the queue comes, with that exit.
 * @param {View} view
 * @param {Int32Array|null} arrival
 * @param {Map<string, Plan>} plans
 * @returns {Map<string, string>}
 */
function lateFor(view, arrival, plans) {
  const late = new Map();
  if (!arrival) return late;
  for (const exit of view.exits) {
    const burns = arrival[exit.row * view.width + exit.col];
    const queue = [...plans].filter(([, plan]) => plan.exit === exit.id);
    queue.sort(([a, one], [b, other]) => one.distance - other.distance || (a < b ? -1 : 1));
    let turn = 0;
    for (const [id, plan] of queue) {
      turn = Math.max(turn + 1, plan.distance);
      // The exit must not burn at the start of the step in which it is entered (R5).
      if (burns < view.step + turn) late.set(id, exit.id);
    }
  }
  return late;
}

/**
 * Steps until the last of several people is through one exit, one a step.
 * @param {number[]} distances
 */
export function lastThrough(distances) {
  let last = 0;
  for (const distance of [...distances].sort((a, b) => a - b)) last = Math.max(last + 1, distance);
  return last;
}

/**
 * Steps in a row without progress for each person, after one more step.
 * @param {Map<string, number>} blocked before
 * @param {View} before
 * @param {View} after
 * @param {Map<string, Plan>} plans what was wanted in this step
 * @returns {Map<string, number>}
 */
export function blockedAfter(blocked, before, after, plans) {
  const was = new Map(before.people.map((person) => [person.id, person]));
  const next = new Map();
  for (const person of after.people) {
    const old = was.get(person.id);
    const plan = plans.get(person.id);
    if (person.status !== "active" || !old || !plan || plan.intent === "stay") continue;
    if (old.row === person.row && old.col === person.col) next.set(person.id, (blocked.get(person.id) || 0) + 1);
  }
  return next;
}

/** @param {View} view @param {number} row @param {number} col */
function besideFire(view, row, col) {
  return [[row - 1, col], [row + 1, col], [row, col - 1], [row, col + 1]].some(
    ([r, c]) => r >= 0 && c >= 0 && r < view.height && c < view.width && isBurning(view, r * view.width + c),
  );
}
