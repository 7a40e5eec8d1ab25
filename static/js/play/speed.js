// @ts-check
// The speed of a baseline: shown to everybody who watches, changed by who started it.

import { write } from "../dom.js";

/** @param {number} stepsPerSecond */
export function showSpeed(stepsPerSecond) {
  write("speed-now", stepsPerSecond);
  const select = document.getElementById("speed");
  if (!(select instanceof HTMLSelectElement)) return;
  const option = [...select.options].find(({ value }) => Number(value) === stepsPerSecond);
  if (option) select.value = option.value;
}

/**
 * Send each change of the control, where the page has it.
 * @param {(text: string) => void} say
 */
export function bindSpeed(say) {
  const select = document.getElementById("speed");
  if (!(select instanceof HTMLSelectElement) || !select.form) return;
  const { form } = select;
  select.addEventListener("change", async () => {
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
      if (!answer.ok) say("The speed could not be changed.");
    } catch {
      say("The speed could not be changed: the server does not answer.");
    }
  });
}
