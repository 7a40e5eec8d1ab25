// Runs before the first paint, as a plain script in the head: sets the remembered theme, so
// that the page never flashes in the other one. The toggle works as soon as it is there.
(() => {
  const root = document.documentElement;
  const KEY = "ember-theme";
  root.dataset.js = "";

  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is switched off: follow the system
    }
  };

  const theme = remembered();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-toggle-theme]");
    if (!button) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // lasts for this page only
    }
  });
})();
