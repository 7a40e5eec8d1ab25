// @ts-check
// Ask an address again and again until there is no more to learn: quick at first, then slower, and again
// at once when the page comes back into view or the connection returns.

const FIRST_MS = 400;
const GROWTH = 1.35;
const MOST_MS = 5000;
/** An answer that takes longer does not come any more, as after a change of network. */
const PATIENCE_MS = 30_000;

/**
 * @typedef {object} PollOptions
 * @property {(trouble: string) => void} [onTrouble] told once a request fails, and with "" when one works again
 */

/**
 * Poll until `use` says that it was the last answer. An answer that `use` calls news ("again") sets the pace
 * back to quick.
 * @param {string | (() => string)} url
 * @param {(answer: any) => boolean | "again"} use true ends it
 * @param {PollOptions} [options]
 */
export function pollUntil(url, use, { onTrouble } = {}) {
  let wait = FIRST_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let stopped = false;
  let asking = false;

  async function ask() {
    clearTimeout(timer);
    if (stopped || asking) return;
    asking = true;
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const address = typeof url === "string" ? url : url();
      const answer = await fetch(address, { headers: { Accept: "application/json" }, signal });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const said = use(await answer.json());
      onTrouble?.("");
      if (said === true) return stop();
      wait = said === "again" ? FIRST_MS : Math.min(MOST_MS, wait * GROWTH);
    } catch (error) {
      onTrouble?.(error instanceof Error ? error.message : String(error));
      wait = Math.min(MOST_MS, wait * 2);
    } finally {
      asking = false;
    }
    if (!stopped) timer = setTimeout(ask, document.hidden ? MOST_MS : wait);
  }

  function soon() {
    if (document.hidden || stopped) return;
    wait = FIRST_MS;
    void ask();
  }

  function stop() {
    stopped = true;
    clearTimeout(timer);
    removeEventListener("online", soon);
    document.removeEventListener("visibilitychange", soon);
  }

  addEventListener("online", soon);
  document.addEventListener("visibilitychange", soon);
  timer = setTimeout(ask, wait);
}
