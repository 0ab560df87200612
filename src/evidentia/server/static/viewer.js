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

begin();
