// @ts-check
// The scenario page: the plan on a canvas and the fire ahead of time.

import { mountBoard } from "../board.js";
import { find } from "../dom.js";
import { countView, fireText, viewFromScenario } from "../lib/view.js";

/** @typedef {import("../lib/view.js").ScenarioData & {arrivals: [number, number, number][] | null}} PageData */

/** @returns {PageData | null} */
function pageData() {
  const element = document.getElementById("scenario-board");
  return element ? JSON.parse(element.textContent ?? "null") : null;
}

/**
 * The view at step 0 with every later ignition already in it, and the steps for the shading.
 * @param {PageData} data
 */
function prepare(data) {
  const start = viewFromScenario(data);
  const burn = start.burn.slice();
  for (const [row, col, step] of data.arrivals ?? []) burn[row * start.width + col] = step;
  return { ...start, burn };
}

/** @param {PageData} data */
function showBoard(data) {
  const canvas = find("#board", HTMLCanvasElement);
  const stage = find("[data-stage]", HTMLElement);
  const still = find("[data-still]", HTMLElement);
  if (!canvas || !stage || !still) return;
  still.hidden = true;
  stage.hidden = false;

  const start = prepare(data);
  const horizon = Math.max(1, ...(data.arrivals ?? []).map(([, , step]) => step));
  const arrival = data.arrivals ? { steps: start.burn, horizon } : undefined;
  const description = canvas.getAttribute("aria-label") ?? "";
  const board = mountBoard(canvas, {
    view: start,
    labels: true,
    ids: true,
    arrival,
    numbers: true,
    maxHeight: () => Math.max(320, Math.min(620, innerHeight - 200)),
  });

  /** @param {number} step */
  const showStep = (step) => {
    const view = { ...start, step, people: step === 0 ? start.people : [] };
    board.set({ view });
    canvas.setAttribute("aria-label", `${description}, step ${step}: ${fireText(countView(view).burning)}`);
  };

  const slider = find("[data-step]", HTMLInputElement);
  const output = find("[data-step-out]", HTMLElement);
  if (slider && output) {
    const follow = () => {
      output.textContent = slider.value;
      showStep(slider.valueAsNumber);
    };
    slider.addEventListener("input", follow);
    follow(); // a reload may keep the slider's place
  }

  for (const box of document.querySelectorAll("[data-toggle]")) {
    if (!(box instanceof HTMLInputElement)) continue;
    const apply = () => {
      if (box.dataset.toggle === "ids") board.set({ ids: box.checked });
      if (box.dataset.toggle === "arrival") board.set({ arrival: box.checked ? arrival : undefined, numbers: box.checked });
    };
    box.addEventListener("change", apply);
    apply();
  }
}

const data = pageData();
if (data) showBoard(data);
