// Entries, the tree of RFC 6962, signed notes and checkpoints (spec/v1/entry.md, checkpoint.md).

import {
  Refused, canonical, canonicalText, equalBytes, fromBase64, fromHex, isObject, isText, isWhole,
  joined, toHex, utf8,
} from "./reading.js";
import { sha256, verifies } from "./hashing.js";

/** White space as the Python verifier knows it; JavaScript's own differs. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
/** Whether a text has anything but white space, as the Python verifier counts it. */
export const isBlank = (text) => new RegExp(`^[${SPACE}]*$`).test(text);
const LINE = new RegExp(`^— ([^${SPACE}+]+) ([A-Za-z0-9+/]+={0,2})$`);
const KEY_NAME = new RegExp(`^[^${SPACE}+]+$`);
const NO_TEXT = /[\x00-\x09\x0b-\x1f]/;
const MAX_NOTE = 65536;
const SIZE = /^(?:0|[1-9][0-9]{0,17})$/;
const HASH = /^[0-9a-f]{64}$/;
const TENANT = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const TIME =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$/;
const ENTRY_FIELDS = "at body kind prev seq subject tenant v";
const KINDS = new Set(
  ("evidence_record status_change document bundle run ledger decision tool_call pack review export "
    + "access retention erasure key request verdict assignment").split(" "),
);
const MAX_SUBJECT = 2000;

export const isHash = (value) => isText(value) && HASH.test(value);
export const codePoints = (text) => Array.from(text).length;

/** Read an entry; its fields are plain, its bytes are its canonical JSON. */
export function readEntry(value) {
  if (!isObject(value)) throw new Refused("entry");
  if (isWhole(value.get("v")) && value.get("v") > 1) throw new Refused("future");
  if ([...value.keys()].sort().join(" ") !== ENTRY_FIELDS || value.get("v") !== 1) {
    throw new Refused("entry");
  }
  const entry = Object.fromEntries(value);
  const good =
    isWhole(entry.seq) && entry.seq >= 0
    && ["tenant", "prev", "kind", "subject", "at", "body"].every((name) => isText(entry[name]))
    && TENANT.test(entry.tenant) && KINDS.has(entry.kind) && TIME.test(entry.at)
    && isHash(entry.prev) && isHash(entry.body)
    && entry.subject !== "" && !entry.subject.includes("\0")
    && utf8(canonicalText(entry.subject)).length <= MAX_SUBJECT;
  if (!good) throw new Refused("entry");
  return { ...entry, bytes: canonical(value) };
}

export const commitment = async (salt, body) => toHex(await sha256(joined(salt, canonical(body))));
export const leafHash = (bytes) => sha256(joined(Uint8Array.of(0), bytes));
export const nodeHash = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

/** Return the root over leaves' hashes, straight from the definition. */
export async function rootHash(leaves) {
  if (leaves.length === 0) return sha256(new Uint8Array());
  if (leaves.length === 1) return leaves[0];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(await rootHash(leaves.slice(0, split)), await rootHash(leaves.slice(split)));
}

/** Follow a path to the root: its steps, from the leaf up, and whether it leads there.
 *
 * Each step has the hash beside, the side it stands on, and the hash above both. */
export async function followPath(leaf, index, size, path, root) {
  const steps = [];
  if (BigInt(index) >= size) return { problem: "path.outside", steps };
  let position = BigInt(index);
  let last = size - 1n;
  let result = leaf;
  for (const sibling of path) {
    if (last === 0n) return { problem: "path.long", steps };
    const isLeft = (position & 1n) === 1n || position === last;
    result = isLeft ? await nodeHash(sibling, result) : await nodeHash(result, sibling);
    steps.push({ beside: sibling, side: isLeft ? "left" : "right", above: result });
    if (isLeft) {
      while (position && !(position & 1n)) {
        position >>= 1n;
        last >>= 1n;
      }
    }
    position >>= 1n;
    last >>= 1n;
  }
  if (last !== 0n) return { problem: "path.short", steps };
  return { problem: equalBytes(result, root) ? null : "path.root", steps };
}

/** Take a signed checkpoint apart; nothing in it is believed yet. */
export function readCheckpoint(data) {
  const tooLong = data.length > MAX_NOTE && codePoints(data) > MAX_NOTE;
  if (tooLong || NO_TEXT.test(data)) throw new Refused("note");
  const blank = data.lastIndexOf("\n\n");
  const block = blank < 0 ? "" : data.slice(blank + 2);
  if (blank < 0 || !block.endsWith("\n")) throw new Refused("note");
  const text = `${data.slice(0, blank)}\n`;
  const signatures = block.slice(0, -1).split("\n").map(readLine);
  const lines = text.split("\n");
  const rest = lines.pop();
  if (lines.length < 3 || lines.includes("") || rest !== "") throw new Refused("checkpoint");
  const [origin, size, encoded] = lines;
  const root = fromBase64(encoded);
  if (!SIZE.test(size) || root === null || root.length !== 32) throw new Refused("checkpoint");
  const tenant = origin.slice(origin.lastIndexOf("/") + 1);
  return { text, origin, tenant, size: BigInt(size), root, signatures };
}

function readLine(line) {
  const found = LINE.exec(line);
  const data = found && fromBase64(found[2]);
  if (!data || data.length <= 4) throw new Refused("note");
  return { name: found[1], keyId: toHex(data.subarray(0, 4)), signature: data.subarray(4) };
}

// Keys

export async function keyId(name, publicKey) {
  const whole = await sha256(joined(utf8(`${name}\n`), Uint8Array.of(1), publicKey));
  return toHex(whole.subarray(0, 4));
}

/** Read a public key: `name+id+base64`, PEM, or 64 hexadecimal digits. */
export async function readKey(text) {
  const given = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(given)) return { publicKey: fromHex(given), name: null };
  if (given.startsWith("-----BEGIN")) {
    const found = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/.exec(given);
    const data = found && fromBase64(found[1].replace(/\s/g, ""));
    if (!data || data.length !== 44 || toHex(data.subarray(0, 12)) !== "302a300506032b6570032100") {
      throw new Refused("key.pem");
    }
    return { publicKey: data.slice(12), name: null };
  }
  const [name, id, ...rest] = given.split("+");
  const data = fromBase64(rest.join("+"));
  if (!KEY_NAME.test(name) || data === null || data.length !== 33 || data[0] !== 1) {
    throw new Refused("key.form");
  }
  const publicKey = data.slice(1);
  const derived = await keyId(name, publicKey);
  if (derived !== id) throw new Refused("key.id", id ?? "", derived);
  return { publicKey, name };
}

/** Return the trusted keys that may vouch for a log, with the ids that they have there. */
export async function candidates(origin, keys) {
  const known = keys.filter((key) => key.name === null || key.name === origin);
  return Promise.all(
    known.map(async (key) => ({ ...key, keyId: await keyId(origin, key.publicKey) })),
  );
}

/** Return the first known key that signed a checkpoint; refuse a wrong signature by a known key. */
export async function checkpointSigner(checkpoint, known) {
  let signer = null;
  const bytes = utf8(checkpoint.text);
  for (const line of checkpoint.signatures) {
    const key = known.findLast((one) => one.keyId === line.keyId && line.name === checkpoint.origin);
    if (!key) continue;
    if (!(await verifies(key.publicKey, line.signature, bytes))) {
      throw new Refused("signature.wrong", key.keyId);
    }
    signer ??= key;
  }
  return signer;
}
