// Strict JSON, and the canonical JSON of RFC 8785 (spec/v1/README.md). What the Python verifier
// refuses is refused here: keys that stand twice, lone surrogates, numbers that no double holds.

export const MAX_DEPTH = 100;

/** A number that is no whole number as JSON writes it; whole numbers are plain numbers. */
export class Float {
  constructor(value) {
    this.value = value;
  }
}

/** What is wrong with bytes: a code, and what belongs into its words. */
export class Refused extends Error {
  constructor(code, ...args) {
    super(code);
    this.code = code;
    this.args = args;
  }
}

export const isObject = (value) => value instanceof Map;
export const isText = (value) => typeof value === "string";
export const isWhole = (value) => typeof value === "number";
export const numeric = (value) => (value instanceof Float ? value.value : value);

const LONE_SURROGATE = /[\ud800-\udfff]/u;
const WHOLE = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const HEX4 = /^[0-9a-fA-F]{4}$/;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const LITERALS = [["true", true], ["false", false], ["null", null]];

/** Read bytes as UTF-8; what is none is refused. */
export function decodeText(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused("json");
  }
}

/** Read JSON strictly: objects become Maps, numbers with a point or an exponent Floats. */
export function parseJson(bytes) {
  const text = decodeText(bytes);
  const reader = { text, at: 0 };
  const value = readValue(reader, 0);
  skipSpace(reader);
  if (reader.at !== text.length) throw new Refused("json");
  return value;
}

function skipSpace(reader) {
  while (" \t\n\r".includes(reader.text[reader.at] ?? "x")) reader.at += 1;
}

function readValue(reader, depth) {
  skipSpace(reader);
  const { text } = reader;
  const first = text[reader.at];
  if (first === '"') return readText(reader);
  if (first === "{" || first === "[") {
    if (depth >= MAX_DEPTH) throw new Refused("deep");
    reader.at += 1;
    return first === "{" ? readObject(reader, depth + 1) : readList(reader, depth + 1);
  }
  for (const [word, value] of LITERALS) {
    if (text.startsWith(word, reader.at)) {
      reader.at += word.length;
      return value;
    }
  }
  NUMBER.lastIndex = reader.at;
  const found = NUMBER.exec(text);
  if (!found) throw new Refused("json");
  reader.at += found[0].length;
  return readNumber(found[0]);
}

function readNumber(written) {
  if (!WHOLE.test(written)) {
    const value = Number(written);
    if (!Number.isFinite(value)) throw new Refused("number", written.slice(0, 40));
    return new Float(value);
  }
  if (written.length < 400) {
    const value = Number(written);
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const is = Number.isFinite(value);
    if (is && (BigInt(value) === BigInt(written) || String(value) === written)) {
      return new Float(value);
    }
  }
  throw new Refused("number", written.slice(0, 40));
}

function readText(reader) {
  const { text } = reader;
  const parts = [];
  reader.at += 1;
  for (;;) {
    PLAIN_TEXT.lastIndex = reader.at;
    const plain = PLAIN_TEXT.exec(text)[0];
    parts.push(plain);
    reader.at += plain.length;
    const next = text[reader.at];
    reader.at += 1;
    if (next === '"') break;
    if (next !== "\\") throw new Refused("json");
    const escape = text[reader.at];
    reader.at += 1;
    if (escape === "u") {
      const digits = text.slice(reader.at, reader.at + 4);
      if (!HEX4.test(digits)) throw new Refused("json");
      reader.at += 4;
      parts.push(String.fromCharCode(parseInt(digits, 16)));
    } else if (Object.hasOwn(ESCAPES, escape)) {
      parts.push(ESCAPES[escape]);
    } else {
      throw new Refused("json");
    }
  }
  const value = parts.join("");
  if (LONE_SURROGATE.test(value)) throw new Refused("surrogate");
  return value;
}

function readList(reader, depth) {
  const list = [];
  skipSpace(reader);
  if (reader.text[reader.at] === "]") {
    reader.at += 1;
    return list;
  }
  for (;;) {
    list.push(readValue(reader, depth));
    skipSpace(reader);
    const next = reader.text[reader.at];
    reader.at += 1;
    if (next === "]") return list;
    if (next !== ",") throw new Refused("json");
  }
}

function readObject(reader, depth) {
  const object = new Map();
  skipSpace(reader);
  if (reader.text[reader.at] === "}") {
    reader.at += 1;
    return object;
  }
  for (;;) {
    skipSpace(reader);
    if (reader.text[reader.at] !== '"') throw new Refused("json");
    const key = readText(reader);
    skipSpace(reader);
    if (reader.text[reader.at] !== ":") throw new Refused("json");
    reader.at += 1;
    if (object.has(key)) throw new Refused("twice", key);
    object.set(key, readValue(reader, depth));
    skipSpace(reader);
    const next = reader.text[reader.at];
    reader.at += 1;
    if (next === "}") return object;
    if (next !== ",") throw new Refused("json");
  }
}

/** Write a value as canonical JSON: text sorts by UTF-16 code units in JavaScript itself. */
export function canonicalText(value) {
  if (value instanceof Map) {
    const keys = [...value.keys()].sort((a, b) => (a < b ? -1 : 1));
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalText(value.get(key))}`)}}`;
  }
  if (Array.isArray(value)) return `[${value.map(canonicalText)}]`;
  if (value instanceof Float) return JSON.stringify(value.value);
  return JSON.stringify(value);
}

export const utf8 = (text) => new TextEncoder().encode(text);
export const canonical = (value) => utf8(canonicalText(value));
export const same = (one, other) => canonicalText(one) === canonicalText(other);

/** Return a value as JavaScript has it, to be shown. Nothing is decided by it. */
export function plainValue(value) {
  if (value instanceof Map) {
    const object = Object.create(null);
    for (const [key, item] of value) object[key] = plainValue(item);
    return object;
  }
  if (Array.isArray(value)) return value.map(plainValue);
  return numeric(value);
}

/** Return what base64 stands for; null if it is not the one way to write it. */
export function fromBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4) return null;
  let binary;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return toBase64(bytes) === text ? bytes : null;
}

export function toBase64(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return btoa(pieces.join(""));
}

export const toHex = (bytes) => [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (two) => parseInt(two, 16));

export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export const equalBytes = (one, other) =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
