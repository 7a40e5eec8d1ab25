// @ts-check
// What the server puts into the page of a game.

import { need } from "../dom.js";

/**
 * @typedef {{episode: string, socket: string, plays: boolean, mode: string, assist: number,
 *   run: string, record: string, verdict: string}} PageData
 */

/** @returns {PageData} what the server put into the page */
export function pageData() {
  return JSON.parse(need("episode-data", HTMLScriptElement).textContent ?? "");
}
