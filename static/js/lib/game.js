// @ts-check
/**
 * What the player of one episode has decided: selection, standing orders, nudges. Pure: it knows
 * neither page nor socket. Orders persist from step to step; a nudge counts for one step.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {import("./orders.js").Order} Order
 * @typedef {import("./orders.js").Action} Action
 * @typedef {import("./orders.js").Plan} Plan
 * @typedef {import("./orders.js").Rules} Rules
 * @typedef {import("./attention.js").Flag} Flag
 */

import { attention, blockedAfter } from "./attention.js";
import { planStep, predict } from "./orders.js";

/** Help used, as it is recorded with the run: 0 nudges only, 1 several people at once, 2 routes. */
export const ASSIST_GROUPS = 1;
export const ASSIST_ROUTES = 2;

export class Game {
  /** @param {number} [assist] the help recorded so far */
  constructor(assist = 0) {
    /** @type {View|null} */
    this.view = null;
    /** @type {Rules|null} */
    this.rules = null;
    /** @type {Map<string, Order>} */
    this.orders = new Map();
    /** @type {Map<string, Action>} */
    this.nudges = new Map();
    /** @type {Set<string>} */
    this.selected = new Set();
    /** @type {Map<string, number>} */
    this.blocked = new Map();
    this.assist = assist;
    /** @type {Map<string, Plan>|null} what was wanted in the step that was sent */
    this.wanted = null;
    /** @type {Map<string, Plan>|null} */
    this.planned = null;
    /** @type {Flag[]|null} */
    this.flagged = null;
  }

  /** Active people in ID order. */
  get active() {
    return this.view ? this.view.people.filter((person) => person.status === "active") : [];
  }

  /** Whether the rules end the run here (R10), even where the server has not said so yet. */
  get over() {
    if (!this.view || !this.rules) return false;
    return !this.active.length || this.view.step >= this.rules.max_steps;
  }

  /** What each person will try in the next step. */
  get plans() {
    if (!this.planned) {
      this.planned =
        this.view && this.rules ? planStep(this.view, this.rules, this.orders, this.nudges) : new Map();
    }
    return this.planned;
  }

  /** People who need a look, the most urgent first. */
  get flags() {
    if (!this.flagged) {
      this.flagged = this.view && this.rules ? attention(this.view, this.rules, this.plans, this.blocked) : [];
    }
    return this.flagged;
  }

  /** One action for each active person, as the server wants it. */
  get actions() {
    /** @type {Record<string, string>} */
    const actions = {};
    for (const [id, plan] of this.plans) actions[id] = plan.action;
    return actions;
  }

  /**
   * Arrows for the board: what each person will try, and what the published rules predict.
   * @returns {Map<string, {action: string, prediction: string}>}
   */
  get ghost() {
    const ghost = new Map();
    if (!this.view || !this.rules) return ghost;
    const outcome = predict(this.view, this.rules, new Map(Object.entries(this.actions)));
    for (const [id, plan] of this.plans) {
      if (plan.intent === "stay") continue;
      ghost.set(id, { action: plan.intent, prediction: plan.wait || outcome.get(id) || "stayed" });
    }
    return ghost;
  }

  /**
   * Take in the newest view. After a step, nudges are used up and progress is counted.
   * @param {View} view
   * @param {Rules} rules
   */
  see(view, rules) {
    const before = this.view;
    this.view = view;
    this.rules = rules;
    if (before && view.step === before.step) return this.changed();
    if (before && view.step === before.step + 1) {
      this.blocked = blockedAfter(this.blocked, before, view, this.wanted ?? new Map());
    } else this.blocked = new Map();
    this.wanted = null;
    this.nudges = new Map();
    const inside = new Set(this.active.map((person) => person.id));
    for (const id of this.selected) if (!inside.has(id)) this.selected.delete(id);
    for (const id of this.orders.keys()) if (!inside.has(id)) this.orders.delete(id);
    if (inside.size === 1) this.selected = new Set(inside);
    return this.changed();
  }

  /** Remember what the step that is being sent wants. */
  sending() {
    this.wanted = this.plans;
  }

  /** @param {Iterable<string>} ids */
  select(ids) {
    const inside = new Set(this.active.map((person) => person.id));
    this.selected = new Set([...ids].filter((id) => inside.has(id)));
  }

  /** @param {string} id */
  toggle(id) {
    if (!this.selected.delete(id)) this.selected.add(id);
  }

  selectAll() {
    this.select(this.active.map((person) => person.id));
  }

  /**
   * Select the next person that needs a look, or simply the next one.
   * @param {1|-1} direction
   * @returns {string|null}
   */
  selectNext(direction) {
    const flagged = this.flags.map((flag) => flag.id);
    const ring = flagged.length ? flagged : this.active.map((person) => person.id);
    if (!ring.length) return null;
    const at = this.selected.size === 1 ? ring.indexOf([...this.selected][0]) : -1;
    const next = at < 0 ? (direction > 0 ? 0 : ring.length - 1) : (at + direction + ring.length) % ring.length;
    this.select([ring[next]]);
    return ring[next];
  }

  /**
   * A standing order for the selection.
   * @param {Order} order
   * @returns {boolean} whether anybody was there to take it
   */
  order(order) {
    if (!this.selected.size) return false;
    for (const id of this.selected) {
      this.orders.set(id, order);
      this.nudges.delete(id);
    }
    this.help(order.kind === "hold" ? 0 : ASSIST_ROUTES);
    this.changed();
    return true;
  }

  /**
   * This step only.
   * @param {Action} action
   * @returns {boolean}
   */
  nudge(action) {
    if (!this.selected.size) return false;
    for (const id of this.selected) this.nudges.set(id, action);
    this.help(0);
    this.changed();
    return true;
  }

  /** @param {number} level */
  help(level) {
    const several = this.selected.size > 1 ? ASSIST_GROUPS : 0;
    this.assist = Math.max(this.assist, level, several);
  }

  changed() {
    this.planned = null;
    this.flagged = null;
  }
}

/**
 * A standing order in words.
 * @param {Order|undefined} order
 */
export function orderText(order) {
  if (!order || order.kind === "hold") return order ? "hold" : "none, stays";
  if (order.kind === "nearest") return "nearest exit";
  if (order.kind === "exit") return `go to exit ${order.exit}`;
  return `go to ${order.row}, ${order.col}`;
}
