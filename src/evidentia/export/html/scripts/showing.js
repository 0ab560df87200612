// What a report looks like on a page. Everything is set as text: nothing of a file becomes markup.

import { directionOf, say } from "./words.js";
import { drawPath } from "./tree.js";

/** Make an element: its tag, with classes after dots, its attributes, and what is in it. */
export function element(tag, attributes = {}, ...inside) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

const MARKS = { true: "✓", false: "✗", null: "?" };

export function stateOf(one) {
  if (one.unchecked) return "unchecked";
  return String(one.holds);
}

const TONES = {
  holds: "good",
  "does not hold": "bad",
};

/** Show a report: the verdict, each check in a line, who signed, and what is not checked. */
export function showReport(report, lang, cryptographyBy) {
  const line = (one) =>
    element(
      `li.ev-check.ev-${stateOf(one)}`, {},
      element("span.ev-mark", { "aria-hidden": "true" }, one.unchecked ? "–" : MARKS[one.holds]),
      element("div", {},
        element("strong", {}, say(lang, `name.${one.name}`)), " ",
        element("span.ev-state", {}, say(lang, `state.${stateOf(one)}`)),
        element("p", {}, say(lang, one.code, one.args)),
      ),
    );
  const open = report.entry
    ? [
        { code: "open.witness", args: [] },
        { code: "open.keys", args: [] },
        ...(report.kind === "pack" && !report.later?.length ? [{ code: "open.later", args: [] }] : []),
      ]
    : [];
  const list = (title, items) =>
    items?.length
      ? element("section", {}, element("h3", {}, say(lang, title)),
          element("ul", {}, items.map((one) => element("li", {}, say(lang, one.code, one.args)))))
      : null;
  return element(
    "div.ev-report", { lang, dir: directionOf(lang) },
    element(`p.ev-verdict.ev-${TONES[report.verdict] ?? "open"}`, { role: "status" }, say(lang, `verdict.${report.verdict}`)),
    element("section", {}, element("h3", {}, say(lang, "ui.checks")), element("ul.ev-checks", {}, report.checks.map(line))),
    report.checkpoint ? facts(report, lang) : null,
    report.checkpoint
      ? element("details.ev-path", {}, element("summary", {}, say(lang, "ui.path")), drawPath(report, lang))
      : null,
    list("ui.open", open),
    list("ui.limits", report.cannotKnow),
    cryptographyBy ? element("p.ev-quiet", {}, say(lang, `ui.${cryptographyBy}`)) : null,
  );
}

function facts(report, lang) {
  const rows = [
    ["ui.log", report.checkpoint.origin],
    ["ui.size", String(report.checkpoint.size)],
    ["ui.entry", `${report.entry.seq}`],
    ["ui.signers", report.signers.join(", ")],
    ["ui.fingerprint", report.fingerprint],
  ];
  return element("dl.ev-facts", {}, rows.filter(([, value]) => value).map(([name, value]) => [
    element("dt", {}, say(lang, name)),
    element("dd", {}, element("bdi", { dir: "ltr" }, value)),
  ]));
}
