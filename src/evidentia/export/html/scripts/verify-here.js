// <verify-here src="URL of a proof" lang="en" keys="name+id+base64"></verify-here>
//
// A button that loads a proof and verifies it in this browser. `keys` may hold several public keys,
// one on each line; without any, the best answer is "consistent, signer unknown". When it is done,
// the element has the attribute `verdict`, and an event `verified` with the report in its `detail`.

import { cryptography } from "./hashing.js";
import { readKey } from "./trail.js";
import { verifyFile } from "./files.js";
import { say } from "./words.js";
import { element, showReport } from "./showing.js";
import { keyTexts } from "./verify-page.js";

export class VerifyHere extends HTMLElement {
  connectedCallback() {
    if (this.firstElementChild?.matches(".ev-button")) return;
    const button = element("button.ev-button", { type: "button" }, this.getAttribute("label") ?? say(this.language, "ui.again"));
    button.addEventListener("click", () => this.verify());
    this.result = element("div.ev-result", { "aria-live": "polite" });
    this.replaceChildren(button, this.result);
  }

  get language() {
    return (this.lang || document.documentElement.lang || "en").startsWith("ar") ? "ar" : "en";
  }

  async verify() {
    const lang = this.language;
    this.result.replaceChildren(element("p", { role: "status" }, say(lang, "ui.verifying")));
    try {
      const answer = await fetch(this.getAttribute("src"), { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const keys = await Promise.all(keyTexts(this.getAttribute("keys") ?? "").map(readKey));
      const report = await verifyFile(bytes, keys);
      this.result.replaceChildren(
        showReport(report, lang, await cryptography()),
        element("p.ev-quiet", {}, say(lang, "ui.worth.served")),
      );
      this.setAttribute("verdict", report.verdict);
      this.dispatchEvent(new CustomEvent("verified", { detail: report, bubbles: true }));
    } catch (error) {
      this.result.replaceChildren(element("p.ev-verdict.ev-bad", { role: "alert" }, say(lang, "ui.failed", [error.message])));
    }
  }
}

customElements.define("verify-here", VerifyHere);
