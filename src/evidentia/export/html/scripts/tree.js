// The path of an entry to the signed root, drawn: what is computed here, and what the proof gives.

import { toHex } from "./reading.js";
import { say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 58;
const WIDE = 172;
const TALL = 34;

function shape(name, attributes, ...inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

const short = (hash) => `${hash.slice(0, 8)}…${hash.slice(-4)}`;

/** Draw the path of a report, as `verifyEvidence` gives it: an SVG, the root above. */
export function drawPath(report, lang = "en") {
  const { leaf, steps } = report.path;
  const levels = steps.length;
  const middle = 230;
  const apart = 115;
  const height = (levels + 1) * ROW + 20;
  const svg = shape("svg", {
    viewBox: `0 0 460 ${height}`, width: 460, height, role: "img", class: "ev-tree", direction: "ltr",
    "aria-label": say(lang, "ui.path"),
  });
  const box = (x, y, hash, kind, label) =>
    shape("g", { class: `ev-node ev-${kind}` },
      shape("title", {}, hash),
      shape("rect", { x: x - WIDE / 2, y, width: WIDE, height: TALL, rx: 6 }),
      shape("text", { x, y: y + 14, "text-anchor": "middle", class: "ev-label" }, label),
      shape("text", { x, y: y + 28, "text-anchor": "middle", class: "ev-hash" }, short(hash)));
  const line = (x1, y1, x2, y2) => shape("line", { x1, y1, x2, y2, class: "ev-edge" });
  let mineX = middle;
  let y = height - ROW + 10;
  const boxes = [box(levels ? besideX(steps[0], -1) : middle, y, leaf, "leaf", say(lang, "ui.leaf", [report.entry.seq]))];
  const lines = [];
  function besideX(step, side) {
    return middle + (step.side === "left" ? -side : side) * apart;
  }
  steps.forEach((step, at) => {
    mineX = besideX(step, -1);
    const otherX = besideX(step, 1);
    boxes.push(box(otherX, y, toHex(step.beside), "given", say(lang, "ui.beside")));
    const last = at === levels - 1;
    const aboveX = last ? middle : besideX(steps[at + 1], -1);
    const aboveY = y - ROW;
    lines.push(line(mineX, y, aboveX, aboveY + TALL), line(otherX, y, aboveX, aboveY + TALL));
    boxes.push(box(aboveX, aboveY, toHex(step.above), last ? "root" : "computed", say(lang, last ? "ui.root" : "ui.computed")));
    y = aboveY;
  });
  svg.append(...lines, ...boxes);
  return svg;
}
