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
 * The first element that a selector finds, if it is of the kind asked for.
 * @template {Element} T
 * @param {string} selector
 * @param {new () => T} kind
 * @param {ParentNode} [root]
 * @returns {T|null}
 */
export function find(selector, kind, root = document) {
  const element = root.querySelector(selector);
  return element instanceof kind ? element : null;
}

/**
 * Set the text of an element, if the page has it and it changes.
 * @param {string} id
 * @param {string|number} text
 */
export function write(id, text) {
  setText(document.getElementById(id), text);
}

/**
 * @param {Element|null} element
 * @param {string|number} text
 */
export function setText(element, text) {
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
