import { InvalidArgumentError } from "../errors.ts";

const maxDepth = 512;

const write = (value: unknown, depth: number): string => {
  if (depth > maxDepth) throw new InvalidArgumentError(`canonical JSON nests deeper than ${maxDepth} levels`);
  if (typeof value === "string") return writeString(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new InvalidArgumentError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return writeList(value, depth);
  if (isObjectOfKeys(value)) return writeObject(value, depth);
  throw new InvalidArgumentError(`a ${typeof value} has no JSON form`);
};

/** False for a Date, a Map, bytes and the like, whose own keys do not say what they hold. */
const isObjectOfKeys = (value: unknown): value is Record<string, unknown> =>
  Object.prototype.toString.call(value) === "[object Object]";

/** Most strings are written as they are. */
const isPlain = (text: string): boolean => !/[^\x20\x21\x23-\x5b\x5d-\x7e]/.test(text);

const writeString = (text: string): string => {
  if (isPlain(text)) return `"${text}"`;
  if (/\p{Cs}/u.test(text))
    throw new InvalidArgumentError(
      "a string holds half of a surrogate pair (U+D800 to U+DFFF), which has no canonical JSON form",
    );
  return JSON.stringify(text);
};

const writeList = (list: readonly unknown[], depth: number): string => {
  let text = "";
  for (let index = 0; index < list.length; index++) {
    text += `${index === 0 ? "" : ","}${write(list[index], depth + 1)}`;
  }
  return `[${text}]`;
};

const writeObject = (value: Record<string, unknown>, depth: number): string => {
  let text = "";
  // Without a comparison keys are sorted by their UTF-16 units.
  for (const key of Object.keys(value).sort()) {
    const entry = value[key];
    if (entry === undefined) continue;
    text += `${text === "" ? "" : ","}${writeString(key)}:${write(entry, depth + 1)}`;
  }
  return `{${text}}`;
};

/**
 * The one text of a JSON value (RFC 8785): keys sorted by UTF-16 units, no white space, numbers as ECMAScript writes
 * them. A key whose value is undefined is left out. Throws `invalid_argument` for what has no such form.
 */
export const canonicalJson = (value: unknown): string => write(value, 0);

interface NodeCrypto {
  hash(name: "sha256", text: string, form: "hex"): string;
}

interface MaybeNode {
  readonly process?: { readonly getBuiltinModule?: (name: "node:crypto") => NodeCrypto | undefined };
}

/** Node.js hashes a short text at once. Without it each hash is handed to another thread, which costs many times more. */
const nodeCrypto = (): NodeCrypto | undefined =>
  (globalThis as MaybeNode).process?.getBuiltinModule?.("node:crypto");

/**
 * Binds an answer to exactly this value: `sha256:` and the hex digest of its canonical JSON. Two values have the same
 * digest when they are the same JSON, whatever the order of their keys.
 */
export const digest = async (value: unknown): Promise<string> => {
  const text = canonicalJson(value);
  const node = nodeCrypto();
  if (node) return `sha256:${node.hash("sha256", text, "hex")}`;
  const bytes = new TextEncoder().encode(text);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  let hex = "";
  for (const byte of hash) hex += byte.toString(16).padStart(2, "0");
  return `sha256:${hex}`;
};
