// @ts-check
// The side panel: selection, attention list, exits. Built from the game alone.

import { exitRows } from "../lib/attention.js";
import { orderText } from "../lib/game.js";
import { symbol } from "../symbols.js";
import { make, need, setText, write } from "../dom.js";

/** @typedef {import("../lib/attention.js").Flag} Flag */
/** @typedef {import("../lib/game.js").Game} Game */

const SHOWN_FLAGS = 8;
const FLAG_SYMBOLS = { fire: "fire", cut: "cut-off", late: "exit-lost", wait: "wait" };

/** @param {Game} game */
export function showSelection(game) {
  const ids = [...game.selected].sort();
  const plans = ids.flatMap((id) => game.plans.get(id) ?? []);
  write("who", ids.length === 0 ? "Nobody" : ids.length === 1 ? ids[0] : `${ids.length} people`);
  write("who-ids", whoText(game, ids));
  write("order-count", ids.length ? `Order ${ids.length === 1 ? ids[0] : ids.length}` : "Order nobody");
  const orders = new Set(
    ids.map((id) => (game.nudges.has(id) ? `${game.nudges.get(id)}, this step` : orderText(game.orders.get(id)))),
  );
  write("who-order", orders.size === 0 ? "–" : orders.size === 1 ? [...orders][0] : `${orders.size} different ones`);
  const ways = plans.filter((plan) => plan.distance > 0).map((plan) => (game.view?.step ?? 0) + plan.distance);
  const first = Math.min(...ways);
  const last = Math.max(...ways);
  write("who-arrive", !ways.length ? "–" : first === last ? `step ${first} at best` : `steps ${first} to ${last} at best`);
  write("who-next", nextText(game, ids));
}

/**
 * @param {Game} game
 * @param {string[]} ids
 */
function whoText(game, ids) {
  if (!ids.length) return "Click a person, or press Tab.";
  if (ids.length === 1) {
    const person = game.active.find(({ id }) => id === ids[0]);
    return person ? `row ${person.row}, column ${person.col}` : "";
  }
  const named = ids.slice(0, 3).join(", ");
  return ids.length > 3 ? `${named} and ${ids.length - 3} more` : named;
}

/**
 * @param {Game} game
 * @param {string[]} ids
 */
function nextText(game, ids) {
  if (!ids.length) return "–";
  const ghost = game.ghost;
  let move = 0;
  let lose = 0;
  let wait = 0;
  let stay = 0;
  for (const id of ids) {
    const prediction = ghost.get(id)?.prediction;
    if (prediction === "moved") move += 1;
    else if (prediction === "blocked_conflict") lose += 1;
    else if (prediction) wait += 1;
    else stay += 1;
  }
  const words = [[move, "move"], [lose, lose === 1 ? "loses the cell" : "lose a cell"], [wait, "wait"], [stay, "stay"]];
  if (ids.length === 1) return move ? "moves" : lose ? "loses the cell" : wait ? "waits" : "stays";
  return words.filter(([n]) => n).map(([n, word]) => `${n} ${word}`).join(", ");
}

/**
 * People who need a look. Buttons of those who stay in their place in the list stay themselves: in a running
 * episode a press and its release fall into two steps, and a click is one only on the same button.
 * @param {Game} game
 * @param {(id: string) => void} choose
 */
export function showAttention(game, choose) {
  const list = need("attention", HTMLElement);
  const flags = game.flags.slice(0, SHOWN_FLAGS);
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.person : undefined;
  while (list.childElementCount > flags.length) list.lastElementChild?.remove();
  flags.forEach((flag, i) => {
    let button = list.children[i]?.firstElementChild;
    if (!(button instanceof HTMLButtonElement) || button.dataset.person !== flag.id) {
      const item = make("li");
      button = flagButton(flag, choose);
      item.append(button);
      if (list.children[i]) list.children[i].replaceWith(item);
      else list.append(item);
    }
    button.setAttribute("aria-pressed", String(game.selected.has(flag.id)));
    const [mark, , text, place] = button.children;
    if (mark.getAttribute("data-kind") !== flag.kind) mark.replaceWith(flagMark(flag));
    setText(text, flag.text);
    setText(place, `${flag.row}, ${flag.col}`);
  });
  const again = focused && list.querySelector(`[data-person="${CSS.escape(focused)}"]`);
  if (again instanceof HTMLElement) again.focus();
  const more = game.flags.length - flags.length;
  need("attention-none", HTMLElement).hidden = flags.length > 0 && more <= 0;
  write("attention-none", more > 0 ? `and ${more} more` : "Nobody is in danger or stuck.");
}

/**
 * @param {Flag} flag
 * @param {(id: string) => void} choose
 */
function flagButton(flag, choose) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.person = flag.id;
  button.append(flagMark(flag), make("b", flag.id), make("span"), make("span", undefined, "muted"));
  button.onclick = () => choose(flag.id);
  return button;
}

/** @param {Flag} flag */
function flagMark({ kind }) {
  const mark = symbol(FLAG_SYMBOLS[kind]);
  mark.dataset.kind = kind;
  return mark;
}

/**
 * @param {Game} game
 * @param {boolean} plays
 */
export function showExits(game, plays) {
  const { view, rules } = game;
  if (!view || !rules) return;
  const rows = exitRows(view, rules, game.plans).map((row) => {
    const line = make("tr", undefined, row.lost ? "lost" : "");
    const name = make("td");
    name.append(make("b", row.id));
    const burns = row.lost ? "lost" : row.burnsAt === null ? (rules.fire_model === "stochastic" ? "?" : "never") : String(row.burnsAt);
    const cells = plays ? [row.out, row.coming, row.lastAt ?? "–", burns] : [row.out, burns];
    line.append(name, ...cells.map((value) => make("td", String(value), "n")));
    return line;
  });
  need("exits", HTMLElement).replaceChildren(...rows);
}
