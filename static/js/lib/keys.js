// @ts-check
/**
 * The keys of the game: one table that binds them and that the help is made from. Pure.
 *
 * @typedef {{key: string, shift: boolean, command: boolean}} Press
 * @typedef {{does: string, group: "Select"|"Order"|"Commit", text: string, shown: string[][],
 *   keys: string[], shift?: boolean, command?: boolean, hold?: boolean}} Binding
 */

/**
 * `keys` are KeyboardEvent.key values, lower case; none for what the pointer does. `shown` holds
 * alternatives, each a list of key caps. `command` is ctrl, or ⌘ on a Mac. `hold` repeats.
 * @type {Binding[]}
 */
export const BINDINGS = [
  { does: "pointer", group: "Select", text: "one person", shown: [["Click"]], keys: [] },
  { does: "pointer", group: "Select", text: "add or remove", shown: [["⇧", "Click"]], keys: [] },
  { does: "pointer", group: "Select", text: "everyone in the box", shown: [["Drag"]], keys: [] },
  { does: "next", group: "Select", text: "next that needs a look, else next person", shown: [["Tab"]], keys: ["tab"], shift: false },
  { does: "previous", group: "Select", text: "the one before", shown: [["⇧", "Tab"]], keys: ["tab"], shift: true },
  { does: "all", group: "Select", text: "everyone inside", shown: [["Ctrl", "A"]], keys: ["a"], command: true },
  { does: "clear", group: "Select", text: "nobody; again: leave the board", shown: [["Esc"]], keys: ["escape"] },
  { does: "north", group: "Order", text: "nudge north, this step only", shown: [["↑"], ["W"]], keys: ["arrowup", "w"], hold: true },
  { does: "west", group: "Order", text: "nudge west", shown: [["←"], ["A"]], keys: ["arrowleft", "a"], hold: true },
  { does: "south", group: "Order", text: "nudge south", shown: [["↓"], ["S"]], keys: ["arrowdown", "s"], hold: true },
  { does: "east", group: "Order", text: "nudge east", shown: [["→"], ["D"]], keys: ["arrowright", "d"], hold: true },
  { does: "pointer", group: "Order", text: "go there", shown: [["Click a cell"]], keys: [] },
  { does: "exit", group: "Order", text: "go to that exit", shown: [["E", "1"]], keys: ["e"] },
  { does: "nearest", group: "Order", text: "go to the nearest exit", shown: [["X"]], keys: ["x"] },
  { does: "hold", group: "Order", text: "hold", shown: [["H"]], keys: ["h"] },
  { does: "step", group: "Commit", text: "one step; keep it down to run", shown: [["Space"], ["Enter"]], keys: [" ", "enter"], hold: true },
  { does: "help", group: "Commit", text: "this list", shown: [["?"]], keys: ["?"] },
];

/**
 * The binding of a key press, or null.
 * @param {Press} press
 * @returns {Binding|null}
 */
export function bindingOf(press) {
  const key = press.key.toLowerCase();
  return (
    BINDINGS.find(
      (binding) =>
        binding.keys.includes(key) &&
        Boolean(binding.command) === press.command &&
        (binding.shift === undefined || binding.shift === press.shift),
    ) ?? null
  );
}

/**
 * The bindings of each group, in order, for the help.
 * @returns {Map<string, Binding[]>}
 */
export function bindingGroups() {
  /** @type {Map<string, Binding[]>} */
  const groups = new Map();
  for (const binding of BINDINGS) {
    const group = groups.get(binding.group) ?? [];
    group.push(binding);
    groups.set(binding.group, group);
  }
  return groups;
}
