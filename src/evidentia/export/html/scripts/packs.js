// What is to be looked at in an exported pack (spec/v1/pack.md): its file, and whether it adds up.

import { canonical, canonicalText, equalBytes, isObject, numeric, same, toHex, utf8 } from "./reading.js";
import { sha256 } from "./hashing.js";
import { fits } from "./form.js";
import { check } from "./checks.js";

const TYPES = { 1: "urn:evidentia:spec:v1:pack", 2: "urn:evidentia:spec:v1:pack.v2" };

export async function packChecks(bytes, document, proof, checks) {
  const unchanged = equalBytes(bytes, utf8(`${canonicalText(document)}\n`));
  checks.push(check("file", unchanged, unchanged ? "file.good" : "file.changed"));
  const pack = proof.statement.predicate;
  const problem = await packProblem(proof, pack);
  checks.push(
    problem
      ? check("pack", false, problem)
      : check("pack", true, "pack.good", pack.get("pack_id"), numeric(pack.get("version")), pack.get("decision_id")),
  );
}

async function packProblem({ statement, entry, body }, pack) {
  const form = statement.predicateType === TYPES[2] ? 2 : 1;
  if (!fits(form === 2 ? "pack.v2" : "pack", pack)) return "pack.form";
  if (!times(pack).every(isRealTime)) return "pack.form";
  const rest = new Map([...pack].filter(([name]) => name !== "pack_id"));
  const derived = `pack_${toHex(await sha256(canonical(rest))).slice(0, 16)}`;
  if (pack.get("pack_id") !== derived) return "pack.id";
  const attachments = pack.get("attachments");
  const names = attachments.map((one) => one.get("name"));
  const sources = pack.get("sources").length;
  const strays = attachments.some((one) => numeric(one.get("source") ?? 0) > sources);
  if (new Set(names).size !== names.length || strays) return "pack.parts";
  const subjects = [
    { name: `pack/${derived}`, sha256: toHex(await sha256(canonical(pack))) },
    ...attachments.map((one) => ({ name: `attachment/${one.get("name")}`, sha256: one.get("sha256") })),
  ];
  if (JSON.stringify(subjects) !== JSON.stringify(statement.subjects)) return "pack.subjects";
  const kind = pack.get("reviewer_id") === null ? "pack" : "review";
  if (entry.subject !== derived || entry.tenant !== pack.get("tenant_id") || entry.kind !== kind) {
    return "pack.entry";
  }
  const told = isObject(body) ? body : new Map();
  const differs = ["decision_id", "version", "replaces"].some(
    (name) => !told.has(name) || !same(told.get(name), pack.get(name)),
  );
  const outcome = told.has("outcome") && !same(told.get("outcome"), pack.get("review_outcome"));
  return differs || outcome ? "pack.entry" : null;
}

function times(pack) {
  const decision = pack.get("decision");
  return [
    pack.get("created_at"),
    pack.get("reviewed_at"),
    decision && decision.get("decided_at"),
    ...pack.get("sources").map((one) => one.get("retrieved_at")),
    ...pack.get("tool_calls").map((one) => one.get("called_at")),
  ].filter((time) => time !== null);
}

/** Whether a time is one that a calendar has: the form alone lets 31 February pass. */
function isRealTime(text) {
  const day = new Date(`${text.slice(0, 19)}Z`);
  return !text.startsWith("0000") && !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 19) === text.slice(0, 19);
}
