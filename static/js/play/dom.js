// @ts-check
// Small ways to the page's elements, with their types checked.

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function need(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/**
 * Set the text of an element, if the page has it and it changes.
 * @param {string} id
 * @param {string|number} text
 */
export function write(id, text) {
  const element = document.getElementById(id);
  if (element && element.textContent !== String(text)) element.textContent = String(text);
}

/**
 * @param {string} tag
 * @param {string} [text]
 * @param {string} [className]
 */
export function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

/**
 * @typedef {{episode: string, socket: string, plays: boolean, mode: string, assist: number,
 *   run: string, record: string, verdict: string}} PageData
 */

/** @returns {PageData} what the server put into the page */
export function pageData() {
  return JSON.parse(need("episode-data", HTMLScriptElement).textContent ?? "");
}
