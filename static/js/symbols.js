// @ts-check
// Symbols for text made by scripts: the same sprite that components/symbol.html uses.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make one symbol of the sprite in the page.
 * @param {string} name as in components/sprite.html: active, evac, casualty, fire, exit, verified…
 * @param {{label?: string, size?: "" | "large" | "small"}} [options] label: spoken where no text stands beside it
 * @returns {SVGSVGElement}
 */
export function symbol(name, { label, size } = {}) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", size ? `sym ${size}` : "sym");
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else {
    svg.setAttribute("aria-hidden", "true");
  }
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#sym-${name}`);
  svg.append(use);
  return svg;
}
