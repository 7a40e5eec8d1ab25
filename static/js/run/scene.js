// @ts-check
// The step at which a record and its replay part, drawn small beside the verdict once it comes into sight.

import { mountBoard } from "../board.js";
import { cropAround, sceneGhosts } from "../lib/replay.js";
import { viewFromTrack } from "../lib/view.js";

/** @typedef {import("../lib/view.js").Track & {scene: import("../lib/replay.js").Scene | null}} SceneTrack */

const MOST = { rows: 7, cols: 9 };
const WIDTH = 264;

/** @type {IntersectionObserver | null} */
let observer = null;
/** Figures whose scene was asked for: rows that change bring all others here again. @type {WeakSet<Element>} */
const begun = new WeakSet();

/**
 * Draw the scenes of refused rows as they come into sight.
 * @param {Element} root
 */
export function watchScenes(root) {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const figure = target.querySelector("[data-scene]");
        if (!isIntersecting || !(figure instanceof HTMLElement)) continue;
        observer?.unobserve(target);
        begun.add(figure);
        void showScene(figure).catch(() => {}); // the words beside it say the same
      }
    },
    { rootMargin: "200px" },
  );
  for (const figure of root.querySelectorAll("[data-scene]")) {
    const row = figure.closest("li");
    if (row && !begun.has(figure)) observer.observe(row);
  }
}

/** @param {HTMLElement} figure */
async function showScene(figure) {
  const answer = await fetch(figure.dataset.scene ?? "", { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  /** @type {SceneTrack} */
  const track = await answer.json();
  const { scene } = track;
  if (!scene) return;
  const view = viewFromTrack(track, scene.step - 1);
  const person = view.people.find(({ id }) => id === scene.person);
  if (!person) return;
  const box = document.createElement("div");
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Start of step ${scene.step}: ${scene.sentence}`);
  const caption = document.createElement("figcaption");
  caption.className = "xs muted";
  caption.textContent = `Start of step ${scene.step}`;
  box.append(canvas);
  figure.replaceChildren(box, caption);
  figure.hidden = false;
  mountBoard(canvas, {
    view,
    ids: true,
    ticks: false,
    crop: cropAround(view, person, MOST),
    selected: new Set([scene.person]),
    ...sceneGhosts(scene),
    maxWidth: () => Math.min(WIDTH, box.clientWidth || WIDTH),
  });
  const sentence = figure.parentElement?.querySelector("[data-scene-sentence]");
  if (sentence instanceof HTMLElement) {
    sentence.textContent = scene.rule ? `${scene.sentence} (Rule ${scene.rule})` : scene.sentence;
    sentence.hidden = false;
  }
}
