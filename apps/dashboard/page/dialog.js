// Asks before something is changed. Returns what was written into the field, "" where there is none, or null for no.

const part = (name) => document.getElementById(name);
const dialog = part("dialog-form").parentElement;

// `field`: {label, value, check: (text) => why it will not do, or ""}. `text`: elements and strings.
export function ask({title, text, yes, isDangerous = false, field = null}) {
  part("dialog-title").textContent = title;
  part("dialog-text").replaceChildren(...text);
  part("dialog-yes").textContent = yes;
  part("dialog-yes").classList.toggle("danger", isDangerous);
  part("dialog-field").hidden = field === null;
  part("dialog-error").textContent = "";
  const input = part("dialog-input");
  if (field) {
    part("dialog-label").textContent = field.label;
    input.value = field.value;
  }
  const cameFrom = document.activeElement?.id;
  dialog.showModal();
  (field ? input : part("dialog-no")).focus();
  return new Promise((resolve) => {
    const gone = new AbortController();
    const options = {signal: gone.signal};
    const end = (answer) => {
      gone.abort();
      dialog.close();
      // The view may have been made anew behind the dialog.
      if (cameFrom) document.getElementById(cameFrom)?.focus();
      resolve(answer);
    };
    part("dialog-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const problem = field?.check?.(input.value) ?? "";
      part("dialog-error").textContent = problem;
      if (!problem) end(field ? input.value : "");
    }, options);
    part("dialog-no").addEventListener("click", () => end(null), options);
    // By the Escape key. The event comes late: one that finds the dialog open is of the time before.
    dialog.addEventListener("close", () => {
      if (!dialog.open) end(null);
    }, options);
  });
}
