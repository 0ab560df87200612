// Verification: bytes and public keys in, a report out (spec/v1/proof.md). Nothing else is read.
// What only packs or ledgers need is loaded when there is one.

import {
  Refused, canonical, fromBase64, fromHex, isObject, isText, isWhole, joined, parseJson, plainValue,
  same, toHex, utf8,
} from "./reading.js";
import { sha256, verifies } from "./hashing.js";
import {
  SPACE, candidates, checkpointSigner, commitment, followPath, isHash, leafHash, readCheckpoint,
  readEntry,
} from "./trail.js";
import { check, verdictOf } from "./checks.js";

export const MAX_PROOF_BYTES = 64 * 1024 * 1024;
const FORMAT = "evidentia/proof";
const CORPUS_FORMAT = "evidentia/corpus-proof";
const REQUIRED = ["checkpoint", "entry", "format", "inclusion", "v"];
const OPTIONAL = ["attachments", "body", "envelope", "salt"];
const MORE = { 1: [], 2: ["envelope", "predicate"], 3: ["envelope", "later", "predicate"] };
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const ATTACHMENT = "attachment/";
const PACK_KINDS = ["pack", "review"];
const DOCUMENT = new RegExp(`^[^${SPACE}@]{1,200}(?:@[1-9][0-9]{0,8})?$`, "u");
const REVOKED = /^revoked\/([0-9a-f]{8})\/([1-9][0-9]{0,17})$/;

/** Verify a proof, an exported pack or a proof about a corpus from its bytes and trusted keys. */
export async function verifyEvidence(bytes, keys = []) {
  const found = await checked(bytes, keys);
  return { ...found, verdict: verdictOf(found.checks) };
}

async function checked(bytes, keys) {
  let document;
  try {
    if (bytes.length > MAX_PROOF_BYTES) throw new Refused("large");
    document = parseJson(bytes);
  } catch (error) {
    return failed(error);
  }
  if (isObject(document) && document.get("format") === CORPUS_FORMAT) {
    return corpusProof(document, keys);
  }
  let proof;
  try {
    proof = readProof(document);
  } catch (error) {
    return failed(error);
  }
  const report = await proofReport(proof, keys);
  const { statement } = proof;
  if (statement === null) {
    if (PACK_KINDS.includes(proof.entry.kind) && proof.hasBody && proof.body !== null) {
      report.checks.push(check("pack", null, "pack.missing"));
    }
    return report;
  }
  const type = statement.predicateType;
  if (/^urn:evidentia:spec:v1:ledger(\.v[23])?$/.test(type)) {
    report.kind = "ledger";
    const { ledgerChecks } = await import("./ledgers.js");
    await ledgerChecks(proof, report.checks);
  } else if (/^urn:evidentia:spec:v1:pack(\.v2)?$/.test(type)) {
    report.kind = "pack";
    const { packChecks } = await import("./packs.js");
    await packChecks(bytes, document, proof, report.checks);
  } else if (type === "urn:evidentia:spec:v1:bundle") {
    report.kind = "bundle";
  }
  return report;
}

function failed(error) {
  if (!(error instanceof Refused)) throw error;
  return { checks: [check("format", false, error.code, ...error.args)], kind: null };
}

// Reading a proof file

function readProof(document) {
  const proof = readFile(document);
  proof.checkpoint = readCheckpoint(proof.note);
  if (proof.envelope) proof.statement = readStatement(proof.envelope.payload);
  return proof;
}

/** Read all of a proof file but its checkpoint, and the statement in its envelope. */
function readFile(document) {
  if (!isObject(document) || document.get("format") !== FORMAT) throw new Refused("format");
  const version = document.get("v");
  if (isWhole(version) && version > 3) throw new Refused("future");
  const known = isWhole(version) && Object.hasOwn(MORE, version) ? version : null;
  const required = [...REQUIRED, ...MORE[known ?? 1]];
  const missing = required.filter((name) => !document.has(name)).sort();
  if (missing.length) throw new Refused("fields.missing", missing.join(", "));
  const others = [...document.keys()].filter((name) => ![...required, ...OPTIONAL].includes(name));
  if (others.length) throw new Refused("fields.unknown", others.sort().join(", "));
  if (known === null) throw new Refused("version");
  if (!isText(document.get("checkpoint"))) throw new Refused("checkpoint");
  if (document.has("predicate") && !isObject(document.get("predicate"))) throw new Refused("plain.form");
  const proof = {
    version,
    entry: readEntry(document.get("entry")),
    inclusion: readHashes(document.get("inclusion")),
    hasBody: document.has("body"),
    body: document.get("body") ?? null,
    salt: null,
    envelope: null,
    statement: null,
    attachments: [],
    predicate: document.has("predicate") ? document.get("predicate") : null,
    later: [],
    note: document.get("checkpoint"),
  };
  if (document.has("body") || document.has("salt")) proof.salt = readSalt(document);
  if (document.has("envelope")) {
    if (!proof.hasBody) throw new Refused("envelope");
    proof.envelope = readEnvelope(document.get("envelope"));
  }
  proof.attachments = readAttachments(document);
  if (document.has("later")) proof.later = readLater(document.get("later"));
  return proof;
}

function readHashes(value) {
  if (!Array.isArray(value) || !value.every(isHash)) throw new Refused("inclusion");
  return value.map(fromHex);
}

function readSalt(document) {
  if (!document.has("body") || !isHash(document.get("salt"))) throw new Refused("salt");
  return fromHex(document.get("salt"));
}

function readLater(value) {
  if (!Array.isArray(value) || !value.length || value.length > 1000) throw new Refused("later.form");
  return value.map((one) => {
    const fields = isObject(one) ? [...one.keys()].sort().join(" ") : "";
    if (fields !== "body entry inclusion salt") throw new Refused("later.form");
    return {
      entry: readEntry(one.get("entry")),
      inclusion: readHashes(one.get("inclusion")),
      body: one.get("body"),
      salt: readSalt(one),
    };
  });
}

const hasExactly = (value, ...names) =>
  isObject(value) && value.size === names.length && names.every((name) => value.has(name));

function readEnvelope(value) {
  if (!hasExactly(value, "payloadType", "payload", "signatures")) throw new Refused("envelope");
  const signatures = value.get("signatures");
  const good =
    value.get("payloadType") === PAYLOAD_TYPE && isText(value.get("payload"))
    && Array.isArray(signatures) && signatures.length > 0;
  const payload = good ? fromBase64(value.get("payload")) : null;
  if (payload === null) throw new Refused("envelope");
  return {
    payload,
    signatures: signatures.map((one) => {
      const named = hasExactly(one, "keyid", "sig") && isText(one.get("keyid")) && isText(one.get("sig"));
      const signature = named ? fromBase64(one.get("sig")) : null;
      if (signature === null) throw new Refused("envelope");
      return { keyId: one.get("keyid"), signature };
    }),
  };
}

function readStatement(payload) {
  const document = parseJson(payload);
  if (!hasExactly(document, "_type", "subject", "predicateType", "predicate")) {
    throw new Refused("statement.form");
  }
  const subjects = document.get("subject");
  const good =
    document.get("_type") === STATEMENT_TYPE && Array.isArray(subjects) && subjects.length > 0
    && isText(document.get("predicateType")) && isObject(document.get("predicate"));
  if (!good) throw new Refused("statement.form");
  return {
    predicateType: document.get("predicateType"),
    predicate: document.get("predicate"),
    subjects: subjects.map((one) => {
      const digest = hasExactly(one, "name", "digest") ? one.get("digest") : null;
      if (!hasExactly(digest, "sha256") || !isText(one.get("name")) || !isHash(digest.get("sha256"))) {
        throw new Refused("statement.form");
      }
      return { name: one.get("name"), sha256: digest.get("sha256") };
    }),
  };
}

function readAttachments(document) {
  if (!document.has("attachments")) return [];
  const given = document.get("attachments");
  if (!document.has("envelope") || !Array.isArray(given) || !given.length) {
    throw new Refused("attachment.form");
  }
  return given.map((one) => {
    const named = hasExactly(one, "name", "data") && isText(one.get("name")) && isText(one.get("data"));
    const data = named ? fromBase64(one.get("data")) : null;
    if (data === null) throw new Refused("attachment.form");
    return { name: one.get("name"), data };
  });
}

// Checking it

async function proofReport(proof, keys) {
  const { entry, checkpoint, statement } = proof;
  const known = await candidates(checkpoint.origin, keys);
  const place = await placeCheck(proof);
  const checks = [
    check("format", true, "format.good", proof.version),
    await contentCheck(proof),
    place.check,
    await signatureCheck(checkpoint, known, keys),
    ...rotationChecks(proof, known),
    ...revocationChecks(proof),
  ];
  if (proof.envelope) checks.push(await statementCheck(proof, known, keys));
  if (statement) {
    if (proof.predicate !== null) checks.push(plainCheck(proof.predicate, statement.predicate));
    checks.push(...(await attachmentChecks(proof)));
  }
  const later = await laterCheck(proof);
  if (later.check) checks.push(later.check);
  return {
    checks,
    kind: "proof",
    entry: { ...entry, bytes: undefined },
    body: plainValue(proof.body),
    statement: statement && { ...statement, predicate: plainValue(statement.predicate) },
    fingerprint: proof.envelope ? toHex(await sha256(proof.envelope.payload)) : null,
    signers: checkpoint.signatures.map((line) => line.keyId),
    checkpoint: { origin: checkpoint.origin, size: checkpoint.size, root: toHex(checkpoint.root) },
    path: { leaf: toHex(place.leaf), steps: place.steps },
    later: later.chain,
    attachments: proof.attachments.map((one) => ({ name: one.name, bytes: one.data.length })),
    cannotKnow: limits(proof),
  };
}

async function contentCheck(proof) {
  const { entry } = proof;
  if (!proof.salt) return check("content", true, "content.hidden", entry.kind, entry.subject, entry.at);
  const is = (await commitment(proof.salt, proof.body)) === entry.body;
  return is
    ? check("content", true, "content.good", entry.kind, entry.subject, entry.at)
    : check("content", false, "content.changed", entry.seq);
}

async function placeCheck(proof) {
  const { entry, checkpoint } = proof;
  const leaf = await leafHash(entry.bytes);
  const path = await followPath(leaf, entry.seq, checkpoint.size, proof.inclusion, checkpoint.root);
  const found = { leaf, steps: path.steps };
  if (checkpoint.tenant !== entry.tenant) {
    found.check = check("place", false, "place.tenant", entry.tenant, checkpoint.origin);
  } else if (entry.seq === 0 && entry.prev !== toHex(await sha256(utf8(checkpoint.origin)))) {
    found.check = check("place", false, "place.genesis", checkpoint.origin);
  } else if (path.problem) {
    found.check = check("place", false, path.problem, entry.seq, checkpoint.size);
  } else {
    found.check = check("place", true, "place.good", entry.seq, checkpoint.size, checkpoint.origin);
  }
  return found;
}

async function signatureCheck(checkpoint, known, keys) {
  const signers = checkpoint.signatures.map((line) => line.keyId).join(", ");
  if (!keys.length) return check("signature", null, "signature.unknown", signers);
  if (!known.length) return check("signature", false, "signature.log", checkpoint.origin, keys[0].name);
  try {
    const signer = await checkpointSigner(checkpoint, known);
    return signer
      ? check("signature", true, "signature.good", signer.keyId)
      : check("signature", false, "signature.other", signers, known.map((one) => one.keyId).join(", "));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return check("signature", false, error.code, ...error.args);
  }
}

/** A proof of a key's announcement: who is replaced there signs no larger log. */
function rotationChecks(proof, known) {
  const { entry, body, checkpoint } = proof;
  const announces =
    entry.kind === "key" && isObject(body) && isText(body.get("key")) && isText(body.get("replaces"));
  if (!announces) return [];
  const announced = [
    { seq: -1n, keyId: body.get("replaces") },
    { seq: BigInt(entry.seq), keyId: entry.subject },
  ];
  const signers = logSigners(checkpoint);
  const trusted = signers.filter((one) => known.some((key) => key.keyId === one));
  const problems = (trusted.length ? trusted : signers).map((one) => {
    const at = announced.findIndex((each) => each.keyId === one);
    if (at < 0) return null;
    if (checkpoint.size <= announced[at].seq) return check("rotation", false, "rotation.early", one);
    const next = announced[at + 1];
    const late = next && checkpoint.size > next.seq + 1n;
    return late ? check("rotation", false, "rotation.late", one, next.keyId) : null;
  });
  return problems.length && !problems.includes(null) ? [problems[0]] : [];
}

const logSigners = (checkpoint) =>
  checkpoint.signatures.filter((line) => line.name === checkpoint.origin).map((line) => line.keyId);

/** A proof of a revocation: who is revoked there does not vouch for it. */
function revocationChecks(proof) {
  const { entry, checkpoint } = proof;
  const found = entry.kind === "key" ? REVOKED.exec(entry.subject) : null;
  if (!found) return [];
  const signers = logSigners(checkpoint);
  const revoked = (one) => one === found[1] && checkpoint.size >= BigInt(found[2]);
  return signers.length && signers.every(revoked)
    ? [check("revocation", false, "revocation.revoked", found[1], found[2])]
    : [check("revocation", true, "revocation.good", found[1])];
}

async function statementCheck(proof, known, keys) {
  const { envelope, body } = proof;
  const named = isObject(body) ? body.get("statement_sha256") : undefined;
  if (named !== toHex(await sha256(envelope.payload))) {
    return check("statement", false, "statement.changed");
  }
  const signers = envelope.signatures.map((one) => one.keyId).join(", ");
  if (!keys.length) return check("statement", null, "statement.unknown", signers);
  const prefix = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${envelope.payload.length} `;
  const signed = joined(utf8(prefix), envelope.payload);
  let signer = null;
  for (const key of known) {
    for (const one of envelope.signatures.filter((each) => each.keyId === key.keyId)) {
      if (!(await verifies(key.publicKey, one.signature, signed))) {
        return check("statement", false, "statement.wrong", key.keyId);
      }
      signer ??= key;
    }
  }
  return signer
    ? check("statement", true, "statement.good", signer.keyId)
    : check("statement", false, "statement.other", signers);
}

function plainCheck(plain, stated) {
  if (same(plain, stated)) return check("plain", true, "plain.good");
  const names = [...new Set([...stated.keys(), ...plain.keys()])];
  const where = names.find(
    (name) => !plain.has(name) || !stated.has(name) || !same(plain.get(name), stated.get(name)),
  );
  return check("plain", false, "plain.changed", where);
}

async function attachmentChecks(proof) {
  const named = new Map(proof.statement.subjects.map((one) => [one.name, one.sha256]));
  const seen = new Set();
  const checks = [];
  for (const { name, data } of proof.attachments) {
    const digest = named.get(ATTACHMENT + name);
    if (digest === undefined || seen.has(name)) {
      checks.push(check("attachment", false, "attachment.unnamed", name));
    } else if (digest !== toHex(await sha256(data))) {
      checks.push(check("attachment", false, "attachment.changed", name));
    } else {
      checks.push(check("attachment", true, "attachment.good", name, data.length));
    }
    seen.add(name);
  }
  return checks;
}

async function laterCheck(proof) {
  const chain = [];
  let before = proof.entry;
  for (const one of proof.later) {
    const { entry, body } = one;
    const replaces = isObject(body) ? body.get("replaces") : undefined;
    const version = isObject(body) ? body.get("version") : undefined;
    const leaf = await leafHash(entry.bytes);
    const good =
      entry.tenant === before.tenant && entry.seq > before.seq
      && (await commitment(one.salt, body)) === entry.body
      && !(await followPath(leaf, entry.seq, proof.checkpoint.size, one.inclusion, proof.checkpoint.root)).problem
      && PACK_KINDS.includes(entry.kind) && isText(replaces)
      && (isWhole(version) || typeof version === "boolean")
      && replaces === before.subject;
    if (!good) return { chain: [], check: check("later", false, "later.wrong", entry.seq) };
    const outcome = body.get("outcome");
    chain.push({
      subject: entry.subject, version, seq: entry.seq, at: entry.at, kind: entry.kind,
      outcome: isText(outcome) ? outcome : null,
    });
    before = entry;
  }
  if (!chain.length) return { chain, check: null };
  const last = chain.at(-1);
  return { chain, check: check("later", true, "later.good", chain.length, last.version, last.outcome) };
}

function limits(proof) {
  const here = new Set(proof.attachments.map((one) => ATTACHMENT + one.name));
  const absent = (proof.statement?.subjects ?? []).filter(
    (one) => one.name.startsWith(ATTACHMENT) && !here.has(one.name),
  );
  return [
    { code: "limit.true", args: [] },
    { code: "limit.time", args: [] },
    { code: "limit.rewritten", args: [] },
    ...(proof.salt ? [] : [{ code: "limit.body", args: [] }]),
    ...absent.map((one) => ({ code: "limit.attachment", args: [one.name.slice(ATTACHMENT.length)] })),
  ];
}

// Proofs about a corpus

async function corpusProof(document, keys) {
  let proof;
  try {
    proof = readCorpusProof(document);
  } catch (error) {
    return failed(error);
  }
  let report;
  try {
    proof.ledger.checkpoint = readCheckpoint(proof.ledger.note);
    report = await proofReport(proof.ledger, keys);
    report.checks[0] = check("format", true, "format.corpus");
  } catch (error) {
    report = failed(error);
  }
  report.kind = "corpus";
  try {
    const { corpusFinding } = await import("./ledgers.js");
    report.shows = await corpusFinding(proof);
    report.checks.push(check("corpus", true, `corpus.${report.shows.membership}`, proof.document));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    report.checks.push(check("corpus", false, error.code, ...error.args));
  }
  return report;
}

function readCorpusProof(document) {
  const version = document.get("v");
  const fields = ["document", "format", "ledger", "nodes", "v"];
  const names = [...document.keys()];
  if (isWhole(version) && version > 1) throw new Refused("future");
  const missing = fields.filter((name) => !document.has(name));
  if (missing.length) throw new Refused("fields.missing", missing.join(", "));
  const others = names.filter((name) => ![...fields, "selection"].includes(name));
  if (others.length) throw new Refused("fields.unknown", others.sort().join(", "));
  const texts = (value) => Array.isArray(value) && value.every(isText);
  const good =
    version === 1 && isText(document.get("document")) && isObject(document.get("ledger"))
    && DOCUMENT.test(document.get("document"))
    && texts(document.get("nodes"))
    && (!document.has("selection") || texts(document.get("selection")));
  if (!good) throw new Refused("corpus.form");
  // As it stands alone: its nesting is counted from its own outermost value.
  const ledger = readFile(parseJson(canonical(document.get("ledger"))));
  if (ledger.entry.kind !== "ledger" || !ledger.salt || ledger.envelope) throw new Refused("corpus.form");
  return {
    document: document.get("document"),
    ledger,
    nodes: document.get("nodes"),
    selection: document.get("selection") ?? null,
  };
}
