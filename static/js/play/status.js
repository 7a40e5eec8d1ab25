// @ts-check
// The status bar, the notice below it and the end screen: the same for players and watchers.

import { stepsToSpread } from "../lib/orders.js";
import { countView } from "../lib/view.js";
import { pollUntil } from "../poll.js";
import { need, write } from "../dom.js";

/** @typedef {import("../lib/reducer.js").Episode} Episode */

/** Stands in addresses of the page for the id of the run. */
export const NO_RUN = "00000000-0000-0000-0000-000000000000";

/**
 * Counts, and the fire's clock.
 * @param {Episode} episode
 */
export function showCounts(episode) {
  const { view, rules } = episode;
  if (!view || !rules) return;
  const now = countView(view);
  write("n-step", view.step);
  write("n-out", now.evacuated);
  write("n-inside", now.active);
  write("n-lost", now.casualty);
  write("n-fire", fireWords(episode));
}

/**
 * When the fire may spread next.
 * @param {Episode} episode
 */
function fireWords({ view, rules, end }) {
  if (!view || !rules || end) return "–";
  if (rules.fire_model === "stochastic" && rules.spread_interval === 1) return "each step";
  const left = stepsToSpread(view.step, rules.spread_interval);
  return left === 1 ? "in 1 step" : `in ${left} steps`;
}

/**
 * The state of the line: a mark, a word and a few more words.
 * @param {Episode} episode
 * @param {boolean} stale
 * @param {number} retryInS
 */
export function showLine(episode, stale, retryInS) {
  const conn = need("conn", HTMLElement);
  const [mark, word, more] = lineWords(episode, stale, retryInS);
  conn.className = `conn ${mark}`;
  write("conn-word", word);
  write("conn-more", more);
}

/**
 * @param {Episode} episode
 * @param {boolean} stale
 * @param {number} retryInS
 * @returns {[string, string, string]}
 */
function lineWords(episode, stale, retryInS) {
  const saved = episode.view ? `step ${episode.view.step} saved` : "";
  switch (episode.phase) {
    case "connecting":
      return ["wait", "Connecting", ""];
    case "over":
      return ["done", "Over", episode.view ? `after step ${episode.view.step}` : ""];
    case "stopped":
      return ["bad", "Stopped", saved];
    case "reconnecting":
      return ["wait", "Reconnecting", retryInS > 0 ? `in ${Math.ceil(retryInS)} s, ${saved || "nothing lost"}` : saved];
    default:
      if (!episode.view) return ["wait", "Connecting", ""];
      if (stale) return ["wait", "No word", `for 10 s, ${saved}`];
      if (episode.paused) return ["wait", "Paused", saved];
      return ["ok", episode.role === "player" ? "Connected" : "Live", saved];
  }
}

/**
 * A sentence below the status bar, with an action where there is one; empty text hides it.
 * @param {string} text
 * @param {string} [label]
 * @param {() => void} [act]
 */
export function showNotice(text, label, act) {
  const bar = need("notice", HTMLElement);
  const button = need("notice-button", HTMLButtonElement);
  write("notice-text", text);
  button.hidden = !label;
  button.textContent = label ?? "";
  button.onclick = act ?? null;
  bar.hidden = !text;
}

/**
 * The end screen; shown once by itself.
 * @param {Episode} episode
 * @param {import("./page.js").PageData} page
 * @param {number} assist
 */
export function showEnd(episode, page, assist) {
  const end = episode.end;
  if (!end) return;
  const { population, evacuated, casualties, unresolved, steps } = end.summary;
  const all = evacuated === population;
  write("end-title", all ? "Everybody is out" : end.reason === "max_steps" ? "The step limit is reached" : "The episode is over");
  write("end-out", evacuated);
  write("end-of", `of ${population} out`);
  write("end-lost", casualties);
  write("end-inside", unresolved);
  write("end-steps", steps);
  write("end-assist", assist);
  write("end-seed", end.seed ?? "hidden");
  write("end-text", endText(end, page));
  const run = need("end-run", HTMLAnchorElement);
  const record = need("end-record", HTMLAnchorElement);
  run.hidden = record.hidden = !end.run;
  if (end.run) {
    followVerdict(end.run, page);
    run.href = page.run.replace(NO_RUN, end.run);
    record.href = page.record.replace(NO_RUN, end.run);
  }
}

/**
 * Say how the verification goes, until its verdict is in.
 * @param {string} run
 * @param {import("./page.js").PageData} page
 */
function followVerdict(run, page) {
  pollUntil(page.verdict.replace(NO_RUN, run), ({ state }) => {
    if (state === "verified") write("end-text", page.mode === "ranked" ? "Verified by replay; it counts on the board." : "Verified by replay. Not ranked.");
    else if (state === "rejected" || state === "failed") write("end-text", "The verification did not succeed; the run says why.");
    return ["verified", "rejected", "failed"].includes(state);
  });
}

/**
 * @param {import("../lib/protocol.js").Frame} end
 * @param {import("./page.js").PageData} page
 */
function endText(end, page) {
  if (!end.run) return "The run is stored and will be checked by replay.";
  if (page.mode === "ranked") return "The run is being verified by replay and then counts on the board.";
  return "The run is being verified by replay. It is not ranked.";
}
