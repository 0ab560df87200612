// Verifying an entry where it is shown: the key that a reader enters goes to what verifies.
import "./verify/verify-here.js";

const part = document.querySelector("[data-verify]");
if (part) {
  const here = part.querySelector("verify-here");
  const key = part.querySelector("textarea");
  const take = () => here.setAttribute("keys", key.value);
  key.addEventListener("input", take);
  take(); // a browser may have kept what was typed
  part.hidden = false;
}
