// @ts-check
// Grids too large for a drawing: one pixel a cell, scaled to the box. Needs a document.

/** @typedef {import("./plan.js").Pen} Pen */

/** @type {Map<string, [number, number, number]>} */
const parsed = new Map();

/**
 * @param {string} colour as computed by the browser: rgb(1, 2, 3)
 * @returns {[number, number, number]}
 */
function channels(colour) {
  let known = parsed.get(colour);
  if (!known) {
    const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    parsed.set(colour, (known = [r, g, b]));
  }
  return known;
}

/** @param {Pen} pen */
export function drawRaster(pen) {
  const { ctx, view, theme, layout } = pen;
  const { crop } = layout;
  const image = new ImageData(crop.cols, crop.rows);
  const floor = channels(theme.floor);
  const wall = channels(theme.wall);
  const fresh = channels(theme.fireNew);
  const old = channels(theme.fireOld);
  let at = 0;
  for (let row = crop.row; row < crop.row + crop.rows; row++) {
    for (let col = crop.col; col < crop.col + crop.cols; col++) {
      const index = row * view.width + col;
      const age = view.burn[index] < 0 ? -1 : view.step - view.burn[index];
      const colour = view.walls[index] ? wall : age < 0 ? floor : age < view.spreadInterval ? fresh : old;
      image.data[at++] = colour[0];
      image.data[at++] = colour[1];
      image.data[at++] = colour[2];
      image.data[at++] = 255;
    }
  }
  const pixels = document.createElement("canvas");
  pixels.width = crop.cols;
  pixels.height = crop.rows;
  pixels.getContext("2d")?.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = layout.cell < 1;
  ctx.drawImage(pixels, layout.left, layout.top, crop.cols * layout.cell, crop.rows * layout.cell);
  ctx.imageSmoothingEnabled = true;
}
