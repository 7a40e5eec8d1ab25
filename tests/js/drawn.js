// @ts-check

/**
 * A view from a drawn map: # wall, . floor, * fire, digits exits, letters people.
 * @param {string[]} rows
 * @param {number} [step]
 */
export function drawn(rows, step = 0) {
  const [height, width] = [rows.length, rows[0].length];
  const walls = new Uint8Array(width * height);
  const burn = new Int32Array(width * height).fill(-1);
  /** @type {import("../../static/js/lib/view.js").Exit[]} */
  const exits = [];
  /** @type {import("../../static/js/lib/view.js").Person[]} */
  const people = [];
  rows.forEach((text, row) =>
    [...text].forEach((sign, col) => {
      if (sign === "#") walls[row * width + col] = 1;
      else if (sign === "*") burn[row * width + col] = 0;
      else if (/\d/.test(sign)) exits.push({ id: `E${sign}`, row, col });
      else if (sign !== ".") people.push({ id: sign, row, col, status: "active", since: 0 });
    }),
  );
  people.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { width, height, walls, exits, people, burn, step, spreadInterval: 1 };
}
