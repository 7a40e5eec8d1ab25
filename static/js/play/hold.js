// @ts-check
// A button that acts when it is clicked, and goes on acting while it is kept down.

/** From so long on a press is no click any more. */
const HOLD_MS = 380;

/**
 * @param {HTMLElement} button
 * @param {number} everyMs how often it is asked to act while it is kept down
 * @param {{act: (repeat: boolean) => boolean, usable: () => boolean}} page `act` says whether it did
 */
export function bindHold(button, everyMs, { act, usable }) {
  /** @type {ReturnType<typeof setInterval>|undefined} */
  let timer;
  let ran = false;
  const stop = () => clearInterval(timer);
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stop();
    ran = false;
    const since = performance.now();
    timer = setInterval(() => {
      // Out of use, the button may never hear that it was let go, and would act by itself once in use again.
      if (!usable()) stop();
      else if (performance.now() - since > HOLD_MS && act(true)) ran = true;
    }, everyMs);
  });
  for (const type of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(type, stop);
  for (const type of ["pointerup", "blur"]) addEventListener(type, stop);
  button.addEventListener("click", (event) => {
    const byKey = event.detail === 0;
    if (byKey || !ran) act(false);
    ran = false;
  });
}
