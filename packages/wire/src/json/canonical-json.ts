import { InvalidArgumentError } from "../errors.ts";

const maxDepth = 512;

const write = (value: unknown, depth: number): string => {
  if (depth > maxDepth) throw new InvalidArgumentError(`canonical JSON nests deeper than ${maxDepth} levels`);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return writeString(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new InvalidArgumentError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${Array.from(value, (entry) => write(entry, depth + 1)).join(",")}]`;
  if (isObjectOfKeys(value)) return writeObject(value, depth);
  throw new InvalidArgumentError(`a ${typeof value} has no JSON form`);
};

/** False for a Date, a Map, bytes and the like, whose own keys do not say what they hold. */
const isObjectOfKeys = (value: unknown): value is Record<string, unknown> =>
  Object.prototype.toString.call(value) === "[object Object]";

const writeString = (text: string): string => {
  if (/\p{Cs}/u.test(text))
    throw new InvalidArgumentError(
      "a string holds half of a surrogate pair (U+D800 to U+DFFF), which has no canonical JSON form",
    );
  return JSON.stringify(text);
};

const writeObject = (value: Record<string, unknown>, depth: number): string => {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  keys.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${keys.map((key) => `${writeString(key)}:${write(value[key], depth + 1)}`).join(",")}}`;
};

/**
 * The one text of a JSON value (RFC 8785): keys sorted by UTF-16 units, no white space, numbers as ECMAScript writes
 * them. A key whose value is undefined is left out. Throws `invalid_argument` for what has no such form.
 */
export const canonicalJson = (value: unknown): string => write(value, 0);

interface NodeCrypto {
  createHash(name: "sha256"): { update(text: string): { digest(form: "hex"): string } };
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
  if (node) return `sha256:${node.createHash("sha256").update(text).digest("hex")}`;
  const bytes = new TextEncoder().encode(text);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  let hex = "";
  for (const byte of hash) hex += byte.toString(16).padStart(2, "0");
  return `sha256:${hex}`;
};
