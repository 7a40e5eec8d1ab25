// @ts-check
// Keys of the game, bound from the table in lib/keys.js; the help is built from the same table.

import { bindingGroups, bindingOf } from "../lib/keys.js";
import { make, need } from "../dom.js";

/**
 * @param {HTMLCanvasElement} canvas
 * @param {(does: string, repeat: boolean) => boolean} perform true where the press was used
 * @param {(digit: number) => boolean} digit true where the digit was used
 */
export function bindKeys(canvas, perform, digit) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.closest("input, textarea, select, [contenteditable]")) return;
    const command = event.ctrlKey || event.metaKey;
    if (!command && /^[1-9]$/.test(event.key) && digit(Number(event.key))) return event.preventDefault();
    const binding = bindingOf({ key: event.key, shift: event.shiftKey, command });
    if (!binding) return undefined;
    const atBoard = target === canvas || target === document.body || target.id === "main";
    // Elsewhere Tab moves the focus, and Space and Enter press what is focused.
    if (!atBoard && (event.key === "Tab" || (target.closest("button, a, summary") && /^( |Enter)$/.test(event.key)))) return undefined;
    if (event.repeat && !binding.hold) return event.preventDefault();
    if (perform(binding.does, event.repeat)) event.preventDefault();
    return undefined;
  });
}

/** Fill the help with what the table holds. */
export function showKeys() {
  const columns = [...bindingGroups()].map(([group, bindings]) => {
    const list = make("dl");
    for (const binding of bindings) {
      const term = make("dt");
      binding.shown.forEach((caps, i) => {
        if (i) term.append(make("span", "or", "muted xs"));
        caps.forEach((cap) => term.append(make("kbd", cap)));
      });
      list.append(term, make("dd", binding.text));
    }
    const column = make("div");
    column.append(make("h3", group), list);
    return column;
  });
  columns[columns.length - 1].append(
    make("p", "Highest order wins: nudge, standing order, stay. Orders persist until changed; a nudge counts for one step.", "xs muted"),
  );
  need("key-groups", HTMLElement).replaceChildren(...columns);
}
