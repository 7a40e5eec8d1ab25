// @ts-check
// Colours of the drawing, read from the tokens of the page in its present theme.

/** Name of a colour in the drawing and the token that holds it. */
const TOKENS = {
  floor: "--b-floor",
  grid: "--b-grid",
  wall: "--b-wall",
  wallEdge: "--b-wall-edge",
  fireNew: "--b-fire-new",
  fireOld: "--b-fire-old",
  hatch: "--b-hatch",
  front: "--b-front",
  door: "--b-door",
  doorFill: "--b-door-fill",
  halo: "--b-halo",
  arrow: "--b-floor-arrow",
  waiting: "--b-wait",
  active: "--active",
  activeInk: "--active-ink",
  evac: "--evac",
  evacInk: "--evac-ink",
  casualty: "--casualty",
  warn: "--warn",
  select: "--select",
  ember: "--ember",
  emberInk: "--ember-ink",
  quiet: "--ink-3",
  line: "--line-strong",
};

/** @typedef {Record<keyof typeof TOKENS, string> & {font: string}} Theme */

/**
 * Resolve every token to a plain colour. The tokens use light-dark(), which only resolves on an
 * element, hence the probe.
 * @returns {Theme}
 */
export function readTheme() {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.setProperty("forced-color-adjust", "none"); // else every colour is the system's one for text
  document.body.append(probe);
  const computed = getComputedStyle(probe);
  const theme = /** @type {Theme} */ ({ font: computed.fontFamily || "sans-serif" });
  for (const [name, token] of /** @type {[keyof typeof TOKENS, string][]} */ (Object.entries(TOKENS))) {
    probe.style.color = `var(${token})`;
    theme[name] = computed.color;
  }
  probe.remove();
  return theme;
}
