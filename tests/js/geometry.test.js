// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellAtPoint,
  cellCorner,
  eachRun,
  exitSide,
  opensOutside,
  peopleInBox,
  planLayout,
} from "../../static/js/lib/geometry.js";

/**
 * A ground from rows of text: # is a wall, E an exit.
 * @param {string[]} rows
 */
function ground(...rows) {
  const [height, width] = [rows.length, rows[0].length];
  const walls = new Uint8Array(width * height);
  /** @type {{id: string, row: number, col: number}[]} */
  const exits = [];
  rows.forEach((text, row) =>
    [...text].forEach((letter, col) => {
      if (letter === "#") walls[row * width + col] = 1;
      if (letter === "E") exits.push({ id: `E${exits.length + 1}`, row, col });
    }),
  );
  return { width, height, walls, exits };
}

test("an exit opens to the border that it lies on", () => {
  const room = ground("##E##", "#...#", "E...E", "##E##");
  assert.deepEqual(room.exits.map((exit) => exitSide(room, exit)), ["north", "west", "east", "south"]);
  assert.ok(room.exits.every((exit) => opensOutside(room, exit)));
});

test("in a corner the border with room opposite is taken", () => {
  const room = ground("E..", "###");
  assert.equal(exitSide(room, room.exits[0]), "west");
  const shaft = ground("E#", ".#", ".#");
  assert.equal(exitSide(shaft, shaft.exits[0]), "north");
});

test("an exit within the grid opens to the wall behind it", () => {
  const room = ground(".....", ".#E..", ".....");
  assert.equal(exitSide(room, room.exits[0]), "west");
  assert.equal(opensOutside(room, room.exits[0]), false);
});

test("a plan fills its box with whole pixels", () => {
  const room = ground("####", "#..E", "####");
  const layout = planLayout(room, { maxWidth: 100 });
  assert.equal(layout.cell, 25);
  assert.deepEqual([layout.width, layout.height], [100, 75]);
  assert.equal(planLayout(room, { maxWidth: 1000, maxHeight: 31 }).cell, 10);
  assert.equal(planLayout(room, { maxWidth: 10_000 }).cell, 56);
});

test("labels take room only on the sides that have exits, and nothing outgrows the box", () => {
  const room = ground("##E#######", "#........E", "##########");
  for (const maxWidth of [120, 328, 640, 900]) {
    const layout = planLayout(room, { maxWidth, labels: true });
    assert.ok(layout.width <= maxWidth + 2, `${layout.width} > ${maxWidth}`);
    assert.equal(layout.left, 0);
    assert.ok(layout.top > 0);
    assert.ok(layout.width > layout.cell * 10);
  }
});

test("a huge grid still fits", () => {
  const big = { width: 1024, height: 1024, walls: new Uint8Array(1024 * 1024), exits: [] };
  const layout = planLayout(big, { maxWidth: 328 });
  assert.ok(layout.width <= 328 && layout.cell > 0);
});

test("points and cells agree, with labels and a part of the plan", () => {
  const room = ground("##########", "E.........", "##########");
  for (const crop of [null, { row: 0, col: 3, rows: 3, cols: 4 }]) {
    const layout = planLayout(room, { maxWidth: 400, labels: true, crop });
    const [x, y] = cellCorner(layout, 1, 4);
    assert.deepEqual(cellAtPoint(layout, x + 1, y + 1), { row: 1, col: 4 });
    assert.deepEqual(cellAtPoint(layout, x + layout.cell - 1, y + layout.cell - 1), { row: 1, col: 4 });
    assert.equal(cellAtPoint(layout, layout.left - 1, y), null);
    assert.equal(cellAtPoint(layout, x, layout.top + layout.cell * 3 + 1), null);
  }
});

test("runs are the longest ones", () => {
  const rows = ["##.#", "....", "####"];
  /** @type {number[][]} */
  const runs = [];
  eachRun(3, 4, (line, place) => rows[line][place] === "#", (...run) => runs.push(run));
  assert.deepEqual(runs, [[0, 0, 2], [0, 3, 4], [2, 0, 4]]);
});

test("a box takes the active people in it, whichever way it is drawn", () => {
  /** @type {any} */
  const view = {
    people: [
      { id: "in", row: 1, col: 1, status: "active" },
      { id: "edge", row: 2, col: 3, status: "active" },
      { id: "out", row: 3, col: 1, status: "active" },
      { id: "lost", row: 1, col: 2, status: "casualty" },
    ],
  };
  const ids = (/** @type {any} */ a, /** @type {any} */ b) => peopleInBox(view, a, b).map((person) => person.id);
  assert.deepEqual(ids({ row: 1, col: 1 }, { row: 2, col: 3 }), ["in", "edge"]);
  assert.deepEqual(ids({ row: 2, col: 1 }, { row: 1, col: 3 }), ["in", "edge"]);
});
