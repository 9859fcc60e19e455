import {
  checkOf,
  checkPrefix,
  checkSuffixBytes,
  hashFieldBytes,
  hashPrefix,
  writeCheck,
} from "./line-check.ts";

/** What the chain needs to know of a line. */
export interface ParsedLine {
  readonly seq: number;
  /** Of a line that seals: the hash, and how many bytes of the line it covers. */
  readonly seal?: { readonly hash: string; readonly coveredBytes: number };
}

const begin = new TextEncoder().encode('{"seq":');
const comma = 0x2c;
const ascii = new TextDecoder("latin1");

const holdsAt = (bytes: Uint8Array, at: number, part: Uint8Array): boolean => {
  if (at < 0) return false;
  for (let index = 0; index < part.length; index++) if (bytes[at + index] !== part[index]) return false;
  return true;
};

const seqOf = (bytes: Uint8Array): number | undefined => {
  let seq = 0;
  let at = begin.length;
  for (; at < begin.length + 16; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    seq = seq * 10 + digit;
  }
  return at > begin.length && bytes[at] === comma && Number.isSafeInteger(seq) ? seq : undefined;
};

/** Takes a line without its newline; undefined for one that is not as a writer left it. */
export const parseLine = (bytes: Uint8Array): ParsedLine | undefined => {
  const end = bytes.length - checkSuffixBytes;
  if (!holdsAt(bytes, 0, begin) || !holdsAt(bytes, end, checkPrefix)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const expected = new Uint8Array(10);
  writeCheck(expected, 0, checkOf(view, 0, end));
  expected[8] = 0x22;
  expected[9] = 0x7d;
  if (!holdsAt(bytes, end + checkPrefix.length, expected)) return undefined;
  const seq = seqOf(bytes);
  if (seq === undefined) return undefined;
  const coveredBytes = end - hashFieldBytes;
  if (!holdsAt(bytes, coveredBytes, hashPrefix) || bytes[end - 1] !== 0x22) return { seq };
  const hash = ascii.decode(bytes.subarray(coveredBytes + hashPrefix.length, end - 1));
  return /^[0-9a-f]{64}$/.test(hash) ? { seq, seal: { hash, coveredBytes } } : { seq };
};

/** The head that a file's first line continues; undefined for a line that begins no file. */
export const openingOf = (bytes: Uint8Array): { seq: number; hash: string } | undefined => {
  if (parseLine(bytes) === undefined) return undefined;
  try {
    const { action, details } = JSON.parse(new TextDecoder().decode(bytes)) as {
      action?: unknown;
      details?: { previous_seq?: unknown; previous_hash?: unknown };
    };
    const { previous_seq: seq, previous_hash: hash } = details ?? {};
    if (action !== "audit.opened" || typeof seq !== "number" || typeof hash !== "string") return undefined;
    return { seq, hash };
  } catch {
    return undefined;
  }
};
