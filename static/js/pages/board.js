// @ts-check
// Applies a filter or a comparison as soon as it is chosen; without this the button does it.

const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".board-bar"));

for (const select of document.querySelectorAll("main form[method=get] select")) {
  select.addEventListener("change", () => /** @type {HTMLSelectElement} */ (select).form?.requestSubmit());
}

if (form) {
  // Empty fields say nothing: keep them out of the address.
  form.addEventListener("formdata", (event) => {
    const { formData } = /** @type {FormDataEvent} */ (event);
    for (const [name, value] of [...formData]) {
      if (value === "" || (name === "sort" && value === "rank")) formData.delete(name);
    }
  });
}
