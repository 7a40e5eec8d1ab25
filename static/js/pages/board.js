// @ts-check
// Applies a filter as soon as it is chosen; without this the button does it.

const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".board-bar"));

if (form) {
  for (const select of form.querySelectorAll("select")) {
    select.addEventListener("change", () => form.requestSubmit());
  }
  // Empty fields say nothing: keep them out of the address.
  form.addEventListener("formdata", (event) => {
    const { formData } = /** @type {FormDataEvent} */ (event);
    for (const [name, value] of [...formData]) {
      if (value === "" || (name === "sort" && value === "rank")) formData.delete(name);
    }
  });
}
