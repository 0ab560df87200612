// Files as people drop them: which evidence is in a proof, a PDF or an HTML page.

import { Refused, canonicalText, decodeText, equalBytes, isObject, parseJson, utf8 } from "./reading.js";
import { check, unchecked, verdictOf } from "./checks.js";
import { verifyEvidence } from "./verifying.js";

// Spelled so that these stand nowhere in a page that carries this script.
export const EVIDENCE_OPENS = `<${"script"} type="application/json" id="evidence">`;
export const EVIDENCE_CLOSES = `</${"script"}>`;
const MAX_EMBEDDED = 64 * 1024 * 1024;

/** Verify whatever was dropped: a proof, an exported pack, a PDF or an HTML page with one in it. */
export async function verifyFile(bytes, keys = []) {
  const begins = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  if (begins.includes("%PDF-")) return verifyPdf(bytes, keys);
  if (/^\s*<!doctype html/i.test(begins)) return verifyHtml(bytes, keys);
  let document;
  try {
    document = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return verifyEvidence(bytes, keys);
  }
  if (!isObject(document)) return refused("file.unknown");
  if (!document.has("format") && document.has("ledger_id") && document.has("entries")) {
    return refused("ledger.export");
  }
  return verifyEvidence(bytes, keys);
}

function refused(code) {
  const checks = [check("format", false, code)];
  return { checks, kind: null, verdict: verdictOf(checks) };
}

async function verifyPdf(bytes, keys) {
  const found = (await embeddedFiles(bytes)).filter(isProof);
  if (found.length !== 1) return refused(found.length ? "pdf.twice" : "pdf.none");
  return aroundEvidence(found[0], keys, [
    unchecked("embedded", "embedded.unchecked"),
    unchecked("rendering", "rendering.unchecked"),
  ]);
}

async function verifyHtml(bytes, keys) {
  let evidence;
  try {
    evidence = evidenceIn(decodeText(bytes));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refused("html.none");
  }
  return aroundEvidence(evidence, keys, [unchecked("rendering", "rendering.page")]);
}

/** Verify evidence that stands in a file of another form, which is not looked at here. */
export async function aroundEvidence(evidence, keys, more) {
  const report = await verifyEvidence(evidence, keys);
  const checks = [...report.checks];
  if (report.entry && !checks.some((one) => one.name === "file")) {
    const unchanged = equalBytes(evidence, utf8(`${canonicalText(parseJson(evidence))}\n`));
    checks.push(check("file", unchanged, unchanged ? "file.good" : "file.changed"));
  }
  checks.push(...more);
  return { ...report, checks, verdict: verdictOf(checks) };
}

/** Return the bytes of the evidence in an HTML page: there, "<" is written as an escape. */
export function evidenceIn(html) {
  const start = html.indexOf(EVIDENCE_OPENS);
  const from = start + EVIDENCE_OPENS.length;
  const end = html.indexOf(EVIDENCE_CLOSES, from);
  if (start < 0 || end < 0 || html.indexOf(EVIDENCE_OPENS, from) >= 0) throw new Refused("html.none");
  return utf8(unescaped(html.slice(from, end)));
}

/** Undo the one escape that evidence has in a page; canonical JSON never writes it itself. */
export const unescaped = (text) => text.replace(/\\(?:u003c|[^])/g, (one) => (one === "\\u003c" ? "<" : one));

function isProof(bytes) {
  try {
    const document = parseJson(bytes);
    return isObject(document) && document.get("format") === "evidentia/proof";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return false;
  }
}

/** Return the files that are embedded in a PDF, unpacked where they are packed. */
async function embeddedFiles(bytes) {
  const text = new TextDecoder("latin1").decode(bytes);
  const files = [];
  const streams = /\/EmbeddedFile\b/g;
  while (streams.exec(text) && files.length < 64) {
    const opens = text.indexOf("stream", streams.lastIndex);
    const head = text.slice(text.lastIndexOf(" obj", streams.lastIndex), opens);
    if (opens < 0 || head.includes("endobj")) continue;
    const from = opens + (text.startsWith("stream\r\n", opens) ? 8 : 7);
    const length = /\/Length (\d+)(?! \d+ R)/.exec(head);
    const end = length ? from + Number(length[1]) : text.indexOf("endstream", from);
    const packed = bytes.subarray(from, end);
    const file = /\/FlateDecode\b/.test(head) ? await inflated(packed) : packed;
    if (file) files.push(file);
    streams.lastIndex = Math.max(streams.lastIndex, end);
  }
  return files;
}

async function inflated(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_EMBEDDED) return null;
      parts.push(value);
    }
  } catch {
    return null;
  }
  const whole = new Uint8Array(size);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
