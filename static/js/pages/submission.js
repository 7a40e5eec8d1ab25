// @ts-check
// One upload: its rows change state unaided until every verdict is in.

import { watchSubmission } from "../submission.js";

for (const element of document.querySelectorAll("[data-submission]")) {
  if (element instanceof HTMLElement && !element.dataset.finished) watchSubmission(element);
}
