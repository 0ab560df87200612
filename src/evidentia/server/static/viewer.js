// What every page gains from a script. Without it all works but these conveniences.
import { begin } from "./keys.js";

// A menu closes by Escape and by a click elsewhere.
for (const menu of document.querySelectorAll("details.menu")) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// Copying: buttons are there only where the browser lets a page copy.
const showCopying = (root) => {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
};
showCopying(document);
document.addEventListener("htmx:after:swap", () => showCopying(document));
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const said = button.textContent;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = button.dataset.copied;
  setTimeout(() => { button.textContent = said; }, 1500);
});

// A form that takes long says that it is at work, and is not sent twice.
document.addEventListener("submit", (event) => {
  const said = event.target.dataset.busy;
  const button = said && (event.submitter ?? event.target.querySelector("button.main"));
  if (!button) return;
  button.setAttribute("aria-busy", "true");
  button.textContent = said;
  setTimeout(() => { button.disabled = true; });
});

// A claim of a ledger that is open closes by the same link; opened, its place is in the address.
const opened = (row) => {
  const next = row.nextElementSibling;
  return next?.classList.contains("opened") ? next : null;
};

document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.("[data-open][hx-get]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = link.closest("tr");
    const part = opened(row);
    if (part) {
      part.remove();
      link.removeAttribute("aria-expanded");
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    link.setAttribute("aria-expanded", "true");
    history.replaceState(null, "", link.href);
  },
  true,
);

// From the answer to a row: the row is focused, so that the keys go on from there.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".answer a[href^='#claim-']");
  if (link) document.querySelector(link.getAttribute("href"))?.focus();
});

begin();
