// Shortcuts: j and k go through rows, Enter opens one, / searches, ? lists them.
// They can be switched off (WCAG 2.1.4); the browser keeps that. A page marks what they mean:
//   data-row      a row that j and k go to (it can be focused: tabindex="-1")
//   data-open     what Enter opens in a row: a link, or a summary
//   data-search   the field that / goes to
//   data-key="x"  a link or button that the key x presses
const KEPT = "evidentia-shortcuts";

const isOn = () => {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
};

const isTyping = (element) =>
  element.isContentEditable || element.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");

const go = (step) => {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement?.closest("[data-row]"));
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next].focus({ preventScroll: true });
  rows[next].scrollIntoView({ block: "nearest" });
};

const press = (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!isOn() || isTyping(event.target)) return;
  const list = document.querySelector("[data-keys]");
  if (list?.open) return;
  if (event.key === "?") list?.showModal();
  else if (event.key === "j") go(1);
  else if (event.key === "k") go(-1);
  else if (event.key === "/") {
    const field = document.querySelector("[data-search]");
    if (!field) return;
    field.focus();
    field.select();
  } else if (event.key === "Enter") {
    if (!event.target.matches?.("[data-row]")) return;
    event.target.querySelector("[data-open]")?.click();
  } else {
    const meant = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!meant) return;
    meant.focus();
    meant.click();
  }
  event.preventDefault();
};

export const begin = () => {
  document.addEventListener("keydown", press);
  for (const label of document.querySelectorAll("[data-shortcuts]")) {
    const box = label.querySelector("input");
    label.hidden = false;
    box.checked = isOn();
    box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "on" : "off"));
  }
};
