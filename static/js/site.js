// @ts-check
// What every page shares: copy buttons, and menus that close by Escape or a click elsewhere.

/**
 * Copy the full text that a button stands for and say so on the button for two seconds.
 * @param {HTMLElement} button
 */
async function copy(button) {
  const text = button.dataset.copy ?? "";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    selectText(button); // no clipboard without a secure context: leave it selected for Ctrl+C
    return;
  }
  button.dataset.copied = "";
  setTimeout(() => delete button.dataset.copied, 2000);
}

/** @param {HTMLElement} element */
function selectText(element) {
  element.textContent = element.dataset.copy ?? element.textContent;
  getSelection()?.selectAllChildren(element);
}

document.addEventListener("click", (event) => {
  const target = event.target;
  if (!(target instanceof Element)) return;
  const button = target.closest("[data-copy]");
  if (button instanceof HTMLElement) void copy(button);
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.removeAttribute("open");
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
  }
});
