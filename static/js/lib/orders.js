// @ts-check
/**
 * Orders: what people were told to do, and the one action each of them takes in the next step.
 * Pure. The server knows actions only and decides every outcome; what is predicted here by the
 * published rules is for display.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {"stay"|"north"|"south"|"east"|"west"} Action
 * @typedef {{kind: "hold"} | {kind: "nearest"} | {kind: "exit", exit: string}
 *   | {kind: "cell", row: number, col: number}} Order
 * @typedef {{fire_model: string, spread_interval: number, spread_probability: number|null,
 *   exits_flammable: boolean, enter_fire: string, conflict_resolution: string, max_steps: number}} Rules
 * @typedef {{action: Action, intent: Action, wait: ""|"blocked_occupied"|"blocked_conflict",
 *   source: "nudge"|"order"|"none", exit: string|null, distance: number, cut: boolean}} Plan
 */

import { isBurning } from "./view.js";

/** The place in this list is the index of a direction, and its bit. @type {Array<"north"|"south"|"east"|"west">} */
const DIRECTION_NAMES = ["north", "south", "east", "west"];

/** A burn step that never comes. */
export const NEVER = 0x3fffffff;

/**
 * The neighbour of a cell in a direction; -1 off the grid.
 * @param {View} view
 * @param {number} cell
 * @param {number} direction index into DIRECTION_NAMES
 */
function neighbour(view, cell, direction) {
  const col = cell % view.width;
  if (direction === 0) return cell >= view.width ? cell - view.width : -1;
  if (direction === 1) return cell + view.width < view.walls.length ? cell + view.width : -1;
  if (direction === 2) return col + 1 < view.width ? cell + 1 : -1;
  return col > 0 ? cell - 1 : -1;
}

/**
 * The step after which each cell burns, from the published deterministic rule; null where the
 * fire is stochastic and nobody can know.
 * @param {View} view
 * @param {Rules} rules
 * @returns {Int32Array|null}
 */
export function fireArrival(view, rules) {
  if (rules.fire_model !== "deterministic") return null;
  const size = view.walls.length;
  const arrival = new Int32Array(size).fill(NEVER);
  const proof = new Uint8Array(size);
  if (!rules.exits_flammable) for (const exit of view.exits) proof[exit.row * view.width + exit.col] = 1;
  let front = [];
  for (let cell = 0; cell < size; cell += 1) {
    if (isBurning(view, cell)) {
      arrival[cell] = view.step;
      front.push(cell);
    }
  }
  const interval = rules.spread_interval;
  let when = (Math.floor(view.step / interval) + 1) * interval;
  while (front.length) {
    const next = [];
    for (const cell of front) {
      for (let direction = 0; direction < 4; direction += 1) {
        const near = neighbour(view, cell, direction);
        if (near < 0 || arrival[near] !== NEVER || view.walls[near] || proof[near]) continue;
        arrival[near] = when;
        next.push(near);
      }
    }
    front = next;
    when += interval;
  }
  return arrival;
}

/**
 * Steps until the fire spreads next: 1 means in the coming step.
 * @param {number} step
 * @param {number} interval
 */
export function stepsToSpread(step, interval) {
  return interval - (step % interval);
}

/**
 * Shortest way from a cell to any goal cell over ground that is neither wall nor burning, and,
 * where `arrival` is given, that does not burn by the time one gets there. `first` is a bit for
 * each direction (DIRECTION_NAMES) in which some shortest way begins.
 * @param {View} view
 * @param {number} from
 * @param {Set<number>} goals
 * @param {Int32Array|null} arrival
 * @param {Set<number>} exits cells where people leave before the fire spreads
 * @returns {{distance: number, goal: number, first: number}|null}
 */
export function route(view, from, goals, arrival, exits) {
  if (goals.has(from)) return { distance: 0, goal: from, first: 0 };
  const first = new Uint8Array(view.walls.length);
  const seen = new Int32Array(view.walls.length);
  let front = [from];
  seen[from] = 1;
  for (let distance = 1; front.length; distance += 1) {
    const when = view.step + distance;
    const next = [];
    for (const cell of front) {
      for (let direction = 0; direction < 4; direction += 1) {
        const near = neighbour(view, cell, direction);
        if (near < 0 || view.walls[near] || isBurning(view, near)) continue;
        if (seen[near] && seen[near] !== distance + 1) continue;
        if (arrival && (exits.has(near) ? arrival[near] <= when - 1 : arrival[near] <= when)) continue;
        if (exits.has(near) && !goals.has(near)) continue;
        first[near] |= distance === 1 ? 1 << direction : first[cell];
        if (seen[near]) continue;
        seen[near] = distance + 1;
        next.push(near);
      }
    }
    const goal = next.find((cell) => goals.has(cell));
    if (goal !== undefined) {
      let mask = 0;
      for (const cell of next) if (goals.has(cell)) mask |= first[cell];
      return { distance, goal, first: mask };
    }
    front = next;
  }
  return null;
}

/**
 * From which cells an exit that does not burn can be reached over ground that does not burn: where `route` finds a
 * way to one of them now, in one flood from the exits, however many people ask (tests/js/orders.test.js compares).
 * @param {View} view
 * @returns {Uint8Array} 1 where it can, row-major
 */
export function canLeave(view) {
  const reached = new Uint8Array(view.walls.length);
  let front = view.exits.map((exit) => exit.row * view.width + exit.col).filter((cell) => !isBurning(view, cell));
  for (const cell of front) reached[cell] = 1;
  while (front.length) {
    const next = [];
    for (const cell of front) {
      for (let direction = 0; direction < 4; direction += 1) {
        const near = neighbour(view, cell, direction);
        if (near < 0 || reached[near] || view.walls[near] || isBurning(view, near)) continue;
        reached[near] = 1;
        next.push(near);
      }
    }
    front = next;
  }
  return reached;
}

/**
 * Goal cells of an order.
 * @param {View} view
 * @param {Order} order
 * @returns {Set<number>}
 */
function goalsOf(view, order) {
  if (order.kind === "cell") return new Set([order.row * view.width + order.col]);
  if (order.kind === "hold") return new Set();
  const wanted = order.kind === "exit" ? view.exits.filter((exit) => exit.id === order.exit) : view.exits;
  return new Set(wanted.map((exit) => exit.row * view.width + exit.col).filter((cell) => !isBurning(view, cell)));
}

/**
 * The next action of each active person: a nudge first, else the standing order, else stay.
 * People on a route do not push each other: who is nearer to the goal chooses first, and who
 * finds every useful cell taken waits for a step (`wait` says why, `intent` where to).
 * @param {View} view
 * @param {Rules} rules
 * @param {Map<string, Order>} orders
 * @param {Map<string, Action>} nudges
 * @returns {Map<string, Plan>}
 */
export function planStep(view, rules, orders, nudges) {
  const arrival = fireArrival(view, rules);
  const exitCells = new Set(view.exits.map((exit) => exit.row * view.width + exit.col));
  const exitAt = new Map(view.exits.map((exit) => [exit.row * view.width + exit.col, exit.id]));
  /** @type {Map<string, Plan>} */
  const plans = new Map();
  /** @type {Map<number, string>} */
  const occupant = new Map();
  /** @type {Array<{id: string, cell: number, way: {distance: number, goal: number, first: number}}>} */
  const walkers = [];
  for (const person of view.people) {
    if (person.status !== "active") continue;
    const cell = person.row * view.width + person.col;
    occupant.set(cell, person.id);
    const nudge = nudges.get(person.id);
    const order = orders.get(person.id);
    /** @type {Plan} */
    const plan = { action: "stay", intent: "stay", wait: "", source: "none", exit: null, distance: 0, cut: false };
    plans.set(person.id, plan);
    if (order && order.kind !== "hold") {
      const goals = goalsOf(view, order);
      const way = goals.size
        ? route(view, cell, goals, arrival, exitCells) || route(view, cell, goals, null, exitCells)
        : null;
      plan.cut = !way;
      if (way) {
        plan.exit = exitAt.get(way.goal) || null;
        plan.distance = way.distance;
        if (!nudge && way.first) walkers.push({ id: person.id, cell, way });
      }
    }
    if (order) plan.source = "order";
    if (nudge) {
      plan.source = "nudge";
      plan.action = plan.intent = nudge;
    }
  }
  assignWalkers(view, walkers, plans, occupant);
  return plans;
}

/**
 * @param {View} view
 * @param {Array<{id: string, cell: number, way: {distance: number, goal: number, first: number}}>} walkers
 * @param {Map<string, Plan>} plans
 * @param {Map<number, string>} occupant
 */
function assignWalkers(view, walkers, plans, occupant) {
  const claimed = new Set();
  const cellOf = new Map([...occupant].map(([cell, id]) => [id, cell]));
  for (const [id, plan] of plans) {
    if (plan.source !== "nudge" || plan.action === "stay") continue;
    claimed.add(neighbour(view, /** @type {number} */ (cellOf.get(id)), DIRECTION_NAMES.indexOf(plan.action)));
  }
  walkers.sort((a, b) => a.way.distance - b.way.distance || (a.id < b.id ? -1 : 1));
  /** @type {Set<string>} */
  const leaving = new Set([...plans].filter(([, plan]) => plan.action !== "stay").map(([id]) => id));
  for (const { id, cell, way } of walkers) {
    const plan = /** @type {Plan} */ (plans.get(id));
    for (let direction = 0; direction < 4; direction += 1) {
      if (!(way.first & (1 << direction))) continue;
      const near = neighbour(view, cell, direction);
      const ahead = occupant.get(near);
      const free = ahead === undefined || leaving.has(ahead);
      if (free && !claimed.has(near)) {
        plan.action = plan.intent = DIRECTION_NAMES[direction];
        plan.wait = "";
        claimed.add(near);
        leaving.add(id);
        break;
      }
      if (!plan.wait) {
        plan.intent = DIRECTION_NAMES[direction];
        plan.wait = free ? "blocked_conflict" : "blocked_occupied";
      }
    }
  }
}

/**
 * What the published rules say the actions will do, fire of this step left aside.
 * Source: rules R1 to R4 and R6; simulation contract, phases 2 to 5.
 * @param {View} view
 * @param {{enter_fire: string}} rules
 * @param {Map<string, string>} actions one for each active person
 * @returns {Map<string, string>} outcome by person ID
 */
export function predict(view, rules, actions) {
  /** @type {Map<string, string>} */
  const outcome = new Map();
  /** @type {Map<string, number>} */
  const movers = new Map();
  /** @type {Map<number, string>} */
  const occupant = new Map();
  for (const person of view.people) {
    if (person.status !== "active") continue;
    const cell = person.row * view.width + person.col;
    occupant.set(cell, person.id);
    const direction = DIRECTION_NAMES.indexOf(/** @type {any} */ (actions.get(person.id)));
    if (direction < 0) {
      outcome.set(person.id, "stayed");
      continue;
    }
    const target = neighbour(view, cell, direction);
    if (target < 0) outcome.set(person.id, "blocked_bounds");
    else if (view.walls[target]) outcome.set(person.id, "blocked_wall");
    else if (rules.enter_fire === "blocked" && isBurning(view, target)) outcome.set(person.id, "blocked_fire");
    else movers.set(person.id, target);
  }
  refuseConflicts(movers, outcome);
  refuseCycles(movers, occupant, outcome);
  refuseOccupied(movers, occupant, outcome);
  for (const id of movers.keys()) outcome.set(id, "moved");
  return outcome;
}

/**
 * R1: of several movers with one target the lowest ID stays a mover.
 * @param {Map<string, number>} movers
 * @param {Map<string, string>} outcome
 */
function refuseConflicts(movers, outcome) {
  const winner = new Map();
  for (const [id, target] of movers) {
    if (!winner.has(target) || id < winner.get(target)) winner.set(target, id);
  }
  for (const [id, target] of [...movers]) {
    if (winner.get(target) === id) continue;
    movers.delete(id);
    outcome.set(id, "blocked_conflict");
  }
}

/**
 * R2, R3: closed chains of movers stay. After R1 targets are unique, so every chain is a line or a ring.
 * @param {Map<string, number>} movers
 * @param {Map<number, string>} occupant
 * @param {Map<string, string>} outcome
 */
function refuseCycles(movers, occupant, outcome) {
  const seen = new Set();
  for (const start of [...movers.keys()]) {
    const chain = [];
    /** @type {string|undefined} */
    let id = start;
    while (id !== undefined && movers.has(id) && !seen.has(id)) {
      seen.add(id);
      chain.push(id);
      id = occupant.get(/** @type {number} */ (movers.get(id)));
    }
    if (!chain.length || id !== start) continue;
    for (const member of chain) {
      movers.delete(member);
      outcome.set(member, "blocked_cycle");
    }
  }
}

/**
 * Movers whose target holds somebody who stays stay too, until nothing changes.
 * @param {Map<string, number>} movers
 * @param {Map<number, string>} occupant
 * @param {Map<string, string>} outcome
 */
function refuseOccupied(movers, occupant, outcome) {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [id, target] of [...movers]) {
      const ahead = occupant.get(target);
      if (ahead === undefined || movers.has(ahead)) continue;
      movers.delete(id);
      outcome.set(id, "blocked_occupied");
      changed = true;
    }
  }
}
