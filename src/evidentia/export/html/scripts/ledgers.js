// What is to be looked at in a ledger (spec/v1/ledger.md, corpus.md): what its entry says of it,
// that the documents it cites are in its corpus, and that its passages stand in its contexts.
//
// A ledger whose form this page does not know is not refused for that: it says so.

import {
  Refused, canonical, canonicalText, equalBytes, fromBase64, fromHex, isObject, isText, isWhole,
  joined, numeric, parseJson, same, toHex, utf8,
} from "./reading.js";
import { sha1, sha256 } from "./hashing.js";
import { fits } from "./form.js";
import { leafHash, rootHash } from "./trail.js";
import { check, unchecked } from "./checks.js";

const TYPE = "urn:evidentia:spec:v1:";
const THIRD = "ledger.v3";
const PAGE = 100;
const BUNDLES = "646f4a3a50f653da8c5dc44f87b2a83b";
const VERDICTS_OF = ["supported", "weak", "contradicted", "not_found", "not_judged"];
const LEVELS = ["critical", "material", "minor"];
const SUPPORTS = ["probable", "partial"];
const EFFECTIVE = ["effective_from", "effective_until"];

/** Add the checks of a ledger. */
export async function ledgerChecks(proof, checks) {
  const { statement, body } = proof;
  const session = statement.predicate;
  const type = statement.predicateType.slice(TYPE.length);
  const found = await judged(type, statement);
  const third = type === THIRD;
  const other = checks.some((one) => one.name === "statement" && one.holds === false);
  if (third && session.has("corpus") && !other) checks.push(corpusCheck(found, session, body));
  if (third && session.has("contexts")) {
    if (found.unknown) checks.push(unchecked("contexts", "ledger.unknown"));
    else if (found.wrong) checks.push(check("contexts", false, found.wrong, ...found.args));
    else checks.push(check("contexts", true, "contexts.good", session.get("contexts").length));
  }
  const failed = checks.some((one) => one.holds === false);
  if (failed || !isObject(body) || found.wrong) return;
  if (found.unknown) {
    checks.push(unchecked("ledger", "ledger.unknown"));
    return;
  }
  const said = await recorded(statement.predicateType, session);
  const differing = [...said].find(([name, value]) => body.has(name) && !same(body.get(name), value));
  if (differing) checks.push(check("ledger", false, "ledger.entry", differing[0]));
}

function corpusCheck(found, session, body) {
  if (found.unknown) return unchecked("corpus", "ledger.unknown");
  if (found.wrong) return check("corpus", false, found.wrong, ...found.args);
  const corpus = session.get("corpus");
  const named = isObject(body) ? body.get("corpus") : undefined;
  if (named === undefined || !same(named, namedCorpus(corpus))) return check("corpus", false, "corpus.other");
  return check("corpus", true, "corpus.good", numeric(corpus.get("used")), numeric(corpus.get("documents")));
}

const namedCorpus = (corpus) =>
  new Map(["root", "documents", "used", "entry", "filter"].map((name) => [name, corpus.get(name) ?? null]));

/** Say what is wrong with a ledger; `unknown` where its form is none that is known here. */
async function judged(type, statement) {
  const session = statement.predicate;
  if (!fits(type, session)) return { unknown: true };
  try {
    await contradictions(type, statement, session);
  } catch (error) {
    if (error instanceof Refused) return { wrong: error.code, args: error.args };
    if (error === UNDECIDED) return { unknown: true };
    throw error;
  }
  return {};
}

const UNDECIDED = new Error("cannot be decided here");

function demand(holds, code, ...args) {
  if (!holds) throw new Refused(code, ...args);
}

async function contradictions(type, statement, session) {
  const answer = session.get("answer");
  const [subject, ...more] = statement.subjects;
  const digest = toHex(await sha256(utf8(answer)));
  demand(!more.length && subject.name === session.get("answer_name") && subject.sha256 === digest, "ledger.subject");
  const ledger = session.get("ledger");
  const entries = ledger.get("entries");
  const claims = session.get("claims");
  const known = new Map(claims.map((claim) => [claim.get("id"), claim]));
  demand(ledger.get("session_id") === session.get("id"), "ledger.session");
  const inOrder =
    entries.length === claims.length
    && entries.every((entry, at) => entry.get("claim_id") === claims[at].get("id"));
  demand(inOrder, "ledger.claims");
  counts(ledger);
  const letters = Array.from(answer);
  const stands = (piece, text) =>
    letters.slice(numeric(piece.get("start")), numeric(piece.get("end"))).join("") === text;
  demand(session.get("left_out").every((one) => stands(one, one.get("text"))), "ledger.answer");
  demand(claims.every((one) => stands(one, one.get("source_text"))), "ledger.answer");
  demand(entries.every((one) => one.get("claim_text") === known.get(one.get("claim_id")).get("text")), "ledger.claims");
  const votes = session.get("judging")?.get("votes") ?? [];
  demand(votes.every((vote) => known.has(vote.get("claim_id"))), "ledger.claims");
  if (type === THIRD) await corpusProblems(session, entries);
  if (session.has("contexts")) await contextProblems(session, entries);
}

function counts(ledger) {
  const entries = ledger.get("entries");
  const summary = ledger.get("summary");
  const second = summary.has("by_support");
  const count = (field, value) => entries.filter((entry) => entry.get(field) === value).length;
  const counted = (field, values) => Object.fromEntries(values.map((one) => [one, count(field, one)]));
  const total = entries.length;
  const covered = count("verdict", "supported") + count("verdict", "weak");
  const expected = {
    total_claims: total,
    by_verdict: counted("verdict", VERDICTS_OF),
    by_importance: counted("claim_importance", LEVELS),
    evidence_coverage: total ? covered / total : 0,
    unsupported_rate: total ? (total - covered) / total : 0,
    ...(second ? { by_support: counted("support", SUPPORTS) } : {}),
  };
  const asMap = (value) =>
    value && typeof value === "object" ? new Map(Object.entries(value).map(([k, v]) => [k, asMap(v)])) : value;
  demand(canonicalText(summary) === canonicalText(asMap(expected)), "ledger.summary");
  for (const entry of entries) {
    demand(entry.has("support") === (second && entry.get("verdict") === "weak"), "ledger.summary");
    demand(!entry.has("nearest") || (second && entry.get("verdict") === "not_found"), "ledger.summary");
  }
}

const shownPassages = (entry) =>
  [...entry.get("evidence").map((match) => match.get("passage")), entry.get("nearest") ?? null].filter(Boolean);

async function corpusProblems(session, entries) {
  const corpus = session.get("corpus");
  demand(corpus || !session.has("search"), "ledger.corpus");
  demand(session.get("ledger").get("summary").has("by_support"), "ledger.summary");
  const listed = session.get("documents").map((one) => one.get("id"));
  const given = new Set((session.get("contexts") ?? []).map((one) => one.get("id")));
  const cited = new Set(
    entries.flatMap(shownPassages).map((one) => one.get("source").get("id")).filter((id) => !given.has(id)),
  );
  const once = new Set(listed).size === listed.length && listed.length === cited.size;
  demand(once && listed.every((id) => cited.has(id)), "ledger.corpus");
  if (!corpus) {
    demand(!listed.length && !session.get("unread").length, "ledger.corpus");
    return;
  }
  demandCounts(corpus);
  const map = await KeyedMap.of(corpus.get("root"), corpus.get("nodes"));
  for (const document of session.get("documents")) {
    const data = await map.get(document.get("id"));
    demand(data, "corpus.absent.cited", document.get("id"));
    const leaf = readLeaf(data);
    demandSame(document, leaf);
    demand(await admits(corpus.get("filter"), leaf), "corpus.filter", document.get("id"));
  }
  demand(same(map.proving(listed), corpus.get("nodes")), "corpus.nodes");
}

function demandCounts(corpus) {
  const filter = corpus.get("filter");
  const whole = filter.has("all") && !filter.has("as_of");
  const [used, documents] = ["used", "documents"].map((name) => numeric(corpus.get(name)));
  demand(used <= documents && (!whole || used === documents), "corpus.form");
}

function demandSame(document, leaf) {
  const [identity, older] = document.get("id").split("@");
  const id = document.get("id");
  const version = String(numeric(leaf.get("version")));
  demand(leaf.get("document_id") === identity && (!older || older === version), "corpus.document", id);
  demand(document.get("superseded") === Boolean(older), "corpus.document", id);
  for (const name of ["version", "collection", "filename", "media_type", "sha256", "dated"]) {
    demand(!leaf.has(name) || same(leaf.get(name), document.get(name)), "corpus.document", id);
  }
  for (const name of EFFECTIVE) {
    demand(same(leaf.get(name) ?? null, document.get(name) ?? null), "corpus.document", id);
  }
}

function readLeaf(data) {
  const leaf = parseJson(data);
  const good =
    isObject(leaf) && ["document_id", "collection", "sha256"].every((name) => isText(leaf.get(name)))
    && (isWhole(leaf.get("version")) || typeof leaf.get("version") === "boolean");
  demand(good, "corpus.leaf");
  return leaf;
}

async function admits(filter, leaf) {
  const day = filter.get("as_of");
  const [first, last] = EFFECTIVE.map((name) => leaf.get(name) ?? null);
  if (day !== undefined && ((first !== null && first > day) || (last !== null && day > last))) return false;
  if (filter.has("collections")) {
    const named = new Map([["name", leaf.get("collection")]]);
    const derived = `col_${toHex(await sha256(canonical(named))).slice(0, 16)}`;
    return filter.get("collections").includes(leaf.has("collection_id") ? leaf.get("collection_id") : derived);
  }
  return !filter.has("documents") || filter.get("documents").includes(leaf.get("document_id"));
}

/** The part of a library's map that nodes show (spec/v1/corpus.md). */
class KeyedMap {
  static async of(root, written) {
    const map = new KeyedMap();
    map.root = root;
    map.nodes = new Map();
    map.proofs = new Map();
    for (const text of written) {
      const node = fromBase64(text);
      demand(node, "corpus.nodes");
      map.nodes.set(toHex(await sha256(node)), [node, text]);
    }
    map.empty = toHex(await sha256(new Uint8Array()));
    return map;
  }

  /** Return a key's value, or null; what the nodes do not show is refused. */
  async get(key) {
    const hashed = await sha256(utf8(key));
    const path = [];
    let at = this.root === this.empty ? null : this.root;
    let value = null;
    while (at !== null) {
      const [node, text] = this.nodes.get(at) ?? [];
      demand(node && isNode(node), "corpus.nodes");
      const depth = path.length;
      path.push(text);
      if (node[0] === 2) {
        for (let n = 0; n < depth; n += 1) {
          demand(nibble(node.subarray(1), n) === nibble(hashed, n), "corpus.nodes");
        }
        value = equalBytes(node.subarray(1, 33), hashed) ? node.subarray(33) : null;
        break;
      }
      demand(depth < 64, "corpus.nodes");
      at = child(node, nibble(hashed, depth));
    }
    this.proofs.set(key, path);
    return value;
  }

  /** Return the nodes that prove keys which were asked for, each once, in the order they have. */
  proving(keys) {
    const sorted = keys.map((key) => [utf8(key), key]).sort(([one], [other]) => compareBytes(one, other));
    return [...new Set(sorted.flatMap(([, key]) => this.proofs.get(key)))];
  }
}

function compareBytes(one, other) {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return at < 0 ? one.length - other.length : one[at] - (other[at] ?? -1);
}

const nibble = (hashed, depth) => (depth & 1 ? hashed[depth >> 1] & 15 : hashed[depth >> 1] >> 4);
const bitsOf = (node) => (node[1] << 8) | node[2];
const ones = (bits) => bits.toString(2).replaceAll("0", "").length;

function isNode(node) {
  if (node[0] === 2) return node.length >= 33;
  return node[0] === 3 && node.length >= 3 && bitsOf(node) !== 0 && node.length === 3 + ones(bitsOf(node)) * 32;
}

function child(node, place) {
  const bits = bitsOf(node);
  if (!((bits >> place) & 1)) return null;
  const at = 3 + ones(bits & ((1 << place) - 1)) * 32;
  return toHex(node.subarray(at, at + 32));
}

async function contextProblems(session, entries) {
  const known = new Map();
  let number = 0;
  for (const context of session.get("contexts")) {
    number += 1;
    const id = context.get("id");
    demand(!known.has(id), "contexts.twice", id);
    known.set(id, { number, context, letters: Array.from(context.get("text")) });
    demand(toHex(await sha256(utf8(context.get("text")))) === context.get("sha256"), "contexts.digest", id);
  }
  const bundle = session.get("bundle");
  if (bundle) demand((await bundleId(bundle.get("sha256"))) === bundle.get("id"), "contexts.bundle");
  for (const entry of entries) {
    for (const passage of shownPassages(entry)) {
      const found = known.get(passage.get("source").get("id"));
      if (found) demandPassage(passage, found);
    }
    const snippets = entry.get("evidence").map((match) => match.get("snippet"));
    for (const match of entry.get("evidence")) {
      const passage = match.get("passage");
      demand(!passage || passage.get("snippet").includes(match.get("snippet")), "contexts.quote", entry.get("id"));
    }
    demand(["", ...snippets].includes(entry.get("evidence_snippet")), "contexts.quote", entry.get("id"));
  }
}

function demandPassage(passage, { number, context, letters }) {
  const id = context.get("id");
  const source = passage.get("source");
  const text = letters.slice(numeric(passage.get("start")), numeric(passage.get("end"))).join("");
  demand(text === passage.get("snippet"), "contexts.passage", id);
  const named = id === `context-${number}` ? "" : ` (${id})`;
  const title = context.get("title") && context.get("title") !== id ? `, ${context.get("title")}` : "";
  const page = context.get("page") ?? null;
  const good =
    source.get("filename") === `context ${number}${named}${title}`
    && same(source.get("page_number"), page)
    && numeric(passage.get("page")) === (numeric(page) || 1)
    && source.get("heading_path") === null;
  demand(good, "contexts.passage", id);
}

async function bundleId(digest) {
  const raw = await sha1(joined(fromHex(BUNDLES), utf8(digest)));
  if (raw === null) throw UNDECIDED;
  raw[6] = (raw[6] & 0x0f) | 0x50;
  raw[8] = (raw[8] & 0x3f) | 0x80;
  const text = toHex(raw.subarray(0, 16));
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => text.slice(from, to)).join("-");
}

/** Return what the body of a ledger's entry says of it. */
async function recorded(type, session) {
  const ledger = session.get("ledger");
  const said = new Map([
    ["predicate_type", type],
    ["session_id", session.get("id")],
    ["previous_ledger_id", ledger.get("previous_ledger_id")],
    ["summary", ledger.get("summary")],
  ]);
  if (type !== TYPE + THIRD) return said;
  if (session.has("corpus")) said.set("corpus", namedCorpus(session.get("corpus")));
  said.set("claims_root", toHex(await pagesRoot(session)));
  return said;
}

async function pagesRoot(session) {
  const ledger = session.get("ledger");
  const flags = ledger.get("risk_flags").map((flag) => {
    const ids = flag.get("affected_claim_ids");
    return new Map([...flag, ["affected_claim_ids", ids.slice(0, PAGE)], ["affected_claims", ids.length]]);
  });
  const head = new Map([
    ["id", ledger.get("id")],
    ["session_id", session.get("id")],
    ...["title", "query", "mode", "answer_name", "judges", "program"].map((name) => [name, session.get(name)]),
    ...["created_at", "previous_ledger_id", "summary", "follow_up_questions"].map((name) => [name, ledger.get(name)]),
    ["claims", ledger.get("entries").length],
    ["risk_flags", flags],
  ]);
  const claims = new Map(session.get("claims").map((claim) => [claim.get("id"), claim]));
  const rows = ledger.get("entries").map(
    (entry) => new Map([["claim", claims.get(entry.get("claim_id"))], ["entry", entry]]),
  );
  const pages = [canonical(head)];
  for (let at = 0; at < rows.length; at += PAGE) pages.push(canonical(rows.slice(at, at + PAGE)));
  return rootHash(await Promise.all(pages.map(leafHash)));
}

/** Say what a proof about a corpus shows of its document; refuse what shows nothing. */
export async function corpusFinding(proof) {
  const body = proof.ledger.body;
  const corpus = isObject(body) ? body.get("corpus") : undefined;
  demand(corpus, "corpus.none");
  demand(fits("corpus", corpus), "corpus.form");
  demandCounts(corpus);
  const filter = corpus.get("filter");
  const map = await KeyedMap.of(corpus.get("root"), proof.nodes);
  const [identity, version] = proof.document.split("@");
  const keys = [identity];
  let leaf = await leafOf(map, identity, identity, null);
  if (leaf && version !== undefined && String(numeric(leaf.get("version"))) !== version) {
    keys.push(proof.document);
    leaf = await leafOf(map, proof.document, identity, version);
  }
  demand(same(map.proving(keys), proof.nodes), "corpus.nodes");
  const decides = leaf !== null && filter.has("selection_sha256");
  demand(decides === (proof.selection !== null), "corpus.selection");
  let membership = "absent";
  if (leaf) {
    let among = true;
    if (decides) {
      const digest = toHex(await sha256(canonical(proof.selection)));
      const good = digest === filter.get("selection_sha256") && proof.selection.length === numeric(filter.get("selected"));
      demand(good, "corpus.selection");
      among = proof.selection.includes(leaf.get("document_id"));
    }
    membership = among && (await admits(filter, leaf)) ? "used" : "left_out";
  }
  return { membership, document: proof.document };
}

async function leafOf(map, key, identity, version) {
  const data = await map.get(key);
  if (data === null) return null;
  const leaf = readLeaf(data);
  const good =
    leaf.get("document_id") === identity
    && (version === null || String(numeric(leaf.get("version"))) === version);
  demand(good, "corpus.document", key);
  return leaf;
}
