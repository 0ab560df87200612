// The page to drop a file on: `startVerifyPage` fills an element with it.

import { cryptography } from "./hashing.js";
import { Refused } from "./reading.js";
import { readKey } from "./trail.js";
import { verifyFile } from "./files.js";
import { directionOf, say } from "./words.js";
import { element, showReport } from "./showing.js";

const MAX_FILE = 128 * 1024 * 1024;

/** Fill an element with the page. `served` says that a server gave it, `lang` in which language. */
export function startVerifyPage(root, { served = false, lang = "en", keys = "" } = {}) {
  const state = { lang, file: null, keys };

  async function verifyNow(result) {
    if (!state.file) return;
    const working = element("p", { role: "status" }, say(state.lang, "ui.verifying"));
    result.replaceChildren(working);
    try {
      const keys = await Promise.all(keyTexts(state.keys).map(readKey));
      const report = await verifyFile(state.file.bytes, keys);
      result.replaceChildren(
        element("h2.ev-name", { dir: "auto" }, state.file.name),
        showReport(report, state.lang, await cryptography()),
      );
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      result.replaceChildren(element("p.ev-verdict.ev-bad", { role: "alert" }, say(state.lang, error.code, error.args)));
    }
  }

  async function take(files, keyField, result) {
    for (const file of files) {
      if (file.size > MAX_FILE) {
        result.replaceChildren(element("p.ev-verdict.ev-bad", { role: "alert" }, say(state.lang, "large")));
        return;
      }
      const bytes = new Uint8Array(await file.arrayBuffer());
      if (/\.(pub|pem)$/i.test(file.name)) {
        state.keys = `${state.keys.trim()}\n${new TextDecoder().decode(bytes).trim()}`.trim();
        keyField.value = state.keys;
      } else {
        state.file = { name: file.name, bytes };
      }
    }
    await verifyNow(result);
  }

  function draw() {
    const words = (code) => say(state.lang, code);
    const result = element("div.ev-result", { "aria-live": "polite" });
    const keyField = element("textarea", { id: "ev-key", rows: 3, spellcheck: "false", dir: "ltr", "aria-describedby": "ev-keyhint" });
    keyField.value = state.keys;
    keyField.addEventListener("input", () => {
      state.keys = keyField.value;
    });
    keyField.addEventListener("change", () => verifyNow(result));
    const input = element("input", { type: "file", id: "ev-file", multiple: true });
    input.addEventListener("change", () => take([...input.files], keyField, result));
    const zone = element("label.ev-drop", { for: "ev-file" }, element("span", {}, words("ui.drop")), input);
    for (const name of ["dragover", "dragenter"]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.add("ev-over");
      });
    }
    zone.addEventListener("dragleave", () => zone.classList.remove("ev-over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("ev-over");
      take([...event.dataTransfer.files], keyField, result);
    });
    const again = element("button.ev-button", { type: "button" }, words("ui.again"));
    again.addEventListener("click", () => verifyNow(result));
    root.lang = state.lang;
    root.dir = directionOf(state.lang);
    root.replaceChildren(
      served ? "" : heading(words, () => {
        state.lang = state.lang === "en" ? "ar" : "en";
        document.documentElement.lang = state.lang;
        document.documentElement.dir = directionOf(state.lang);
        document.title = `${say(state.lang, "ui.title")} · Evidentia`;
        draw();
      }),
      element("div.ev-field", {}, zone),
      element("div.ev-field", {},
        element("label", { for: "ev-key" }, words("ui.key")), keyField,
        element("p.ev-quiet", { id: "ev-keyhint" }, words("ui.keyhint")), again),
      result,
      element("section.ev-worth", {}, element("h2", {}, words("ui.worth")),
        element("p", {}, words(served ? "ui.worth.served" : "ui.worth.saved"))),
    );
    verifyNow(result);
  }
  draw();
}

function heading(words, turn) {
  const button = element("button.ev-button", { type: "button" }, words("ui.language"));
  button.addEventListener("click", turn);
  return element("header.ev-head", {}, element("h1", {}, words("ui.title")), button);
}

/** Take a field apart into keys: one on each line, a PEM block over several. */
export function keyTexts(text) {
  const blocks = text.match(/-----BEGIN[^]*?-----END [A-Z ]+-----/g) ?? [];
  const rest = blocks.reduce((left, block) => left.replace(block, ""), text);
  return [...blocks, ...rest.split("\n").map((line) => line.trim()).filter(Boolean)];
}
