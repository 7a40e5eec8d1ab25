// @ts-check
// One upload: its rows change state unaided until every verdict is in.

import { watchScenes } from "../run/scene.js";
import { watchSubmission } from "../submission.js";

for (const element of document.querySelectorAll("[data-submission]")) {
  if (!(element instanceof HTMLElement)) continue;
  if (element.dataset.finished) watchScenes(element);
  else watchSubmission(element);
}
