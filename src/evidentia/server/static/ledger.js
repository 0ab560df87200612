// A claim that is open closes by the same link; opened, it takes its place in the address.
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
