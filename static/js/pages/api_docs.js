// @ts-check
// Shows the OpenAPI schema with the Swagger UI that this site serves itself.

const target = /** @type {HTMLElement} */ (document.getElementById("api-docs"));
const { SwaggerUIBundle } = /** @type {any} */ (window);

SwaggerUIBundle({
  domNode: target,
  url: target.dataset.schema,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  // The session of the browser signs in; unsafe methods need Django's token beside it.
  requestInterceptor: (/** @type {{headers: Record<string, string>}} */ request) => {
    const token = document.cookie.match(/(?:^|; )ember_csrf=([^;]+)/);
    if (token) request.headers["X-CSRFToken"] = token[1];
    return request;
  },
});
