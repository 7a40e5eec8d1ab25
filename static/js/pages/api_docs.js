// @ts-check
// Shows the OpenAPI schema with the Swagger UI that this site serves itself, in the theme of the page.

const root = document.documentElement;
const target = /** @type {HTMLElement} */ (document.getElementById("api-docs"));
const { SwaggerUIBundle } = /** @type {any} */ (window);
const systemDark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI goes by a class on the root. */
const themeChanged = () => {
  root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
};
themeChanged();
systemDark.addEventListener("change", themeChanged);
new MutationObserver(themeChanged).observe(root, { attributes: true, attributeFilter: ["data-theme"] });

/**
 * Swagger UI puts a link into the button that opens an operation, which neither a keyboard nor a screen
 * reader can tell apart. Show the path as text: the button writes the same address.
 *
 * @param {{React: any}} system
 */
const pathsWithoutLinks = ({ React }) => ({
  components: { DeepLink: (/** @type {{text: unknown}} */ { text }) => React.createElement("span", null, text) },
});

/** Buttons of its dialog that have no name, or one that does not say what stands on them. */
const nameButtons = () => {
  target.querySelector(".close-modal")?.setAttribute("aria-label", "Close");
  for (const button of target.querySelectorAll('[aria-label$="credentials"]')) button.removeAttribute("aria-label");
};
new MutationObserver(nameButtons).observe(target, { childList: true, subtree: true });

SwaggerUIBundle({
  domNode: target,
  url: target.dataset.schema,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  plugins: [pathsWithoutLinks],
  // The session of the browser signs in; unsafe methods need Django's token beside it.
  requestInterceptor: (/** @type {{headers: Record<string, string>}} */ request) => {
    const token = document.cookie.match(/(?:^|; )ember_csrf=([^;]+)/);
    if (token) request.headers["X-CSRFToken"] = token[1];
    return request;
  },
});
