// @ts-check
// The speed of a baseline: shown to everybody who watches, changed by who started it.

import { find, write } from "../dom.js";

/** The choice that the server holds, as far as this page knows. */
let held = "";

/** @param {number} stepsPerSecond */
export function showSpeed(stepsPerSecond) {
  write("speed-now", stepsPerSecond);
  const select = find("#speed", HTMLSelectElement);
  const option = [...(select?.options ?? [])].find(({ value }) => Number(value) === stepsPerSecond);
  if (select && option) select.value = held = option.value;
}

/**
 * Send each change of the control, where the page has it: one after another, so that the last one counts. Where
 * one fails the control goes back to what the server holds.
 * @param {(text: string) => void} say
 */
export function bindSpeed(say) {
  const select = find("#speed", HTMLSelectElement);
  if (!select?.form) return;
  const { form } = select;
  held = select.value;
  let sending = Promise.resolve();
  select.addEventListener("change", () => {
    const chosen = select.value;
    const body = new FormData(form);
    sending = sending.then(async () => {
      const trouble = await post(form.action, body);
      if (!trouble) {
        held = chosen;
        return;
      }
      say(trouble);
      if (select.value === chosen) select.value = held;
    });
  });
}

/**
 * @param {string} address
 * @param {FormData} body
 * @returns {Promise<string>} what went wrong, empty where nothing did
 */
async function post(address, body) {
  try {
    const answer = await fetch(address, { method: "POST", body });
    return answer.ok ? "" : "The speed could not be changed.";
  } catch {
    return "The speed could not be changed: the server does not answer.";
  }
}
