// @ts-check
// The status page fetches itself again every few seconds while somebody looks at it.

const EVERY_MS = 5000;
const PATIENCE_MS = 30_000;

let asking = false;

/** Replace the figures by those of now; without an answer the old ones stay, dimmed. */
async function refresh() {
  const shown = document.querySelector("[data-refresh]");
  if (!(shown instanceof HTMLElement) || document.hidden || asking) return;
  asking = true;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, signal });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-refresh]");
    if (fresh) shown.replaceChildren(...fresh.childNodes);
    shown.classList.remove("muted");
  } catch {
    shown.classList.add("muted");
  } finally {
    asking = false; // one at a time: an answer that was overtaken would bring old figures back
  }
}

setInterval(() => void refresh(), EVERY_MS);
document.addEventListener("visibilitychange", () => void refresh());
