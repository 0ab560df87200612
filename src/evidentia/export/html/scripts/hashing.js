// SHA-256 and Ed25519: by the browser's WebCrypto, and where it has none (plain HTTP, an old
// browser) by what stands here and by noble-ed25519, which is loaded only then.

import { utf8 } from "./reading.js";

const subtle = () => globalThis.crypto?.subtle;
let fallback = null;
let native = null;

/** Where the cryptography comes from: "webcrypto", or "script" where the browser has none. */
export async function cryptography() {
  return (await hasEd25519()) ? "webcrypto" : "script";
}

export async function sha256(bytes) {
  if (subtle()) return new Uint8Array(await subtle().digest("SHA-256", bytes));
  return digest256(bytes);
}

/** SHA-1, which names a bundle; null where the browser has no WebCrypto. */
export async function sha1(bytes) {
  return subtle() ? new Uint8Array(await subtle().digest("SHA-1", bytes)) : null;
}

/** Whether a signature is a public key's over bytes. */
export async function verifies(publicKey, signature, bytes) {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  if (await hasEd25519()) {
    try {
      const key = await subtle().importKey("raw", publicKey, "Ed25519", false, ["verify"]);
      return await subtle().verify("Ed25519", key, signature, bytes);
    } catch {
      return false;
    }
  }
  fallback ??= import("./noble-ed25519.js");
  const noble = await fallback;
  noble.hashes.sha512 = digest512;
  try {
    return noble.verify(signature, bytes, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

async function hasEd25519() {
  native ??= (async () => {
    if (!subtle()) return false;
    try {
      const raw = new Uint8Array(32);
      raw[0] = 0x58;
      raw.fill(0x66, 1); // the curve's own base point, as a key
      await subtle().importKey("raw", raw, "Ed25519", false, ["verify"]);
      return true;
    } catch {
      return false;
    }
  })();
  return native;
}

// SHA-2 in plain JavaScript (FIPS 180-4); its constants are the roots of the first primes.

const MASK64 = (1n << 64n) - 1n;

function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n += 1) {
    if (found.every((prime) => n % prime)) found.push(n);
  }
  return found;
}

function root(value, power) {
  let low = 0n;
  let high = 1n << 100n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** power <= value) low = middle;
    else high = middle;
  }
  return low;
}

const fraction64 = (prime, power) => root(BigInt(prime) << (64n * power), power) & MASK64;
let tables = null;

function constants() {
  tables ??= {
    k: primes(80).map((prime) => fraction64(prime, 3n)),
    h: primes(8).map((prime) => fraction64(prime, 2n)),
  };
  return tables;
}

function padded(bytes, block) {
  const size = Math.ceil((bytes.length + 1 + block / 8) / block) * block;
  const whole = new Uint8Array(size);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  new DataView(whole.buffer).setBigUint64(size - 8, BigInt(bytes.length) * 8n);
  return new DataView(whole.buffer);
}

export function digest256(bytes) {
  const { k, h } = constants();
  const rounds = k.slice(0, 64).map((one) => Number(one >> 32n));
  const state = h.map((one) => Number(one >> 32n) | 0);
  const data = padded(bytes, 64);
  const w = new Int32Array(64);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let start = 0; start < data.byteLength; start += 64) {
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) {
        w[i] = data.getInt32(start + 4 * i);
      } else {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
      }
    }
    let [a, b, c, d, e, f, g, z] = state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (z + s1 + ((e & f) ^ (~e & g)) + rounds[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [z, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, z].forEach((one, i) => {
      state[i] = (state[i] + one) | 0;
    });
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((one, i) => out.setInt32(4 * i, one));
  return new Uint8Array(out.buffer);
}

export function digest512(bytes) {
  const { k, h } = constants();
  const state = [...h];
  const data = padded(bytes, 128);
  const w = new Array(80);
  const turn = (x, n) => ((x >> n) | (x << (64n - n))) & MASK64;
  for (let start = 0; start < data.byteLength; start += 128) {
    for (let i = 0; i < 80; i += 1) {
      if (i < 16) {
        w[i] = data.getBigUint64(start + 8 * i);
      } else {
        const s0 = turn(w[i - 15], 1n) ^ turn(w[i - 15], 8n) ^ (w[i - 15] >> 7n);
        const s1 = turn(w[i - 2], 19n) ^ turn(w[i - 2], 61n) ^ (w[i - 2] >> 6n);
        w[i] = (w[i - 16] + s0 + w[i - 7] + s1) & MASK64;
      }
    }
    let [a, b, c, d, e, f, g, z] = state;
    for (let i = 0; i < 80; i += 1) {
      const s1 = turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n);
      const one = (z + s1 + ((e & f) ^ (~e & MASK64 & g)) + k[i] + w[i]) & MASK64;
      const s0 = turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) & MASK64;
      [z, g, f, e, d, c, b, a] = [g, f, e, (d + one) & MASK64, c, b, a, (one + two) & MASK64];
    }
    [a, b, c, d, e, f, g, z].forEach((one, i) => {
      state[i] = (state[i] + one) & MASK64;
    });
  }
  const out = new DataView(new ArrayBuffer(64));
  state.forEach((one, i) => out.setBigUint64(8 * i, one));
  return new Uint8Array(out.buffer);
}

export const sha256Text = (text) => sha256(utf8(text));
