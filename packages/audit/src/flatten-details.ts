import { redactedPlaceholder as redacted } from "@harnesskit/wire";

/** How the formatter writes what it finds; each sets the marks that it needs. */
export interface DetailWriter {
  readonly maxKeys: number;
  readonly maxDepth: number;
  /** JSON of a string, without secrets and truncated. */
  text(text: string): string;
  isSecretKey(key: string): boolean;
  mark(mark: "redacted" | "cut" | "unreadable" | "invalid"): void;
}

/** Names a value whose content is not for the log; undefined for one that is flattened. */
const opaque = (value: object): string | undefined => {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof Error) return `[${value.name}]`;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`;
  return undefined;
};

/** Takes apart details that are not plain: nested, cyclic, unreadable, hostile. Never throws. */
class Flattener {
  readonly #writer: DetailWriter;
  readonly #fields = new Map<string, string>();
  readonly #open = new Set<object>();
  #isFull = false;

  constructor(writer: DetailWriter) {
    this.#writer = writer;
  }

  get json(): string {
    let json = "";
    for (const [key, value] of this.#fields) json += json === "" ? `${key}:${value}` : `,${key}:${value}`;
    return json;
  }

  #put(key: string, json: string): void {
    let name = this.#writer.text(key);
    // Different keys may be one after a cut.
    for (let count = 2; this.#fields.has(name); count++)
      name = this.#writer.text(`${key.slice(0, 16)}~${count}`);
    this.#fields.set(name, json);
  }

  #scalar(value: unknown): string | undefined {
    switch (typeof value) {
      case "string":
        return this.#writer.text(value);
      case "number":
        return Number.isFinite(value) ? String(value) : `"${value}"`;
      case "boolean":
        return String(value);
      case "bigint":
        return this.#writer.text(this.#digits(value));
      case "object":
        return value === null ? "null" : undefined;
      default:
        this.#writer.mark("invalid");
        return `"[${typeof value}]"`;
    }
  }

  #digits(value: bigint): string {
    const isSmall = value < 10n ** 40n && value > -(10n ** 40n);
    if (!isSmall) this.#writer.mark("cut");
    return isSmall ? value.toString() : "[large number]";
  }

  #nested(key: string, value: object, depth: number): void {
    const { mark, maxDepth } = this.#writer;
    const shown = opaque(value);
    if (shown !== undefined) {
      this.#put(key, this.#writer.text(shown));
      return;
    }
    if (this.#open.has(value)) {
      mark("invalid");
      this.#put(key, '"[cyclic]"');
      return;
    }
    if (depth > maxDepth) {
      mark("cut");
      this.#put(key, Array.isArray(value) ? '"[array]"' : '"[object]"');
      return;
    }
    this.#open.add(value);
    this.object(`${key}.`, value, depth);
    this.#open.delete(value);
  }

  #field(prefix: string, key: string, value: unknown, depth: number): void {
    const { isSecretKey, mark } = this.#writer;
    const isProto = key === "__proto__";
    if (isProto || key === "") mark("invalid");
    const name = `${prefix}${isProto ? "(proto)" : key === "" ? "(empty)" : key}`;
    if (value !== null && typeof value !== "boolean" && isSecretKey(key)) {
      mark("redacted");
      this.#put(name, `"${redacted}"`);
      return;
    }
    const scalar = this.#scalar(value);
    if (scalar !== undefined) this.#put(name, scalar);
    else this.#nested(name, value as object, depth);
  }

  /** Flattens the own enumerable properties of an object, one by one. */
  object(prefix: string, value: object, depth: number): void {
    const { maxKeys, mark } = this.#writer;
    let keys: string[];
    try {
      keys = Object.keys(value);
    } catch {
      mark("unreadable");
      if (prefix !== "") this.#put(prefix.slice(0, -1), '"[unreadable]"');
      return;
    }
    for (const key of keys) {
      if (this.#isFull) return;
      if (this.#fields.size >= maxKeys) {
        this.#isFull = true;
        mark("cut");
        return;
      }
      try {
        const found = (value as Record<string, unknown>)[key];
        if (found !== undefined) this.#field(prefix, key, found, depth + 1);
      } catch {
        mark("unreadable");
        this.#put(`${prefix}${key}`, '"[unreadable]"');
      }
    }
  }
}

/** The fields of details as JSON without the braces. Nested values become keys with dots. */
export const flattenDetails = (details: object, writer: DetailWriter): string => {
  const flattener = new Flattener(writer);
  flattener.object("", details, 0);
  return flattener.json;
};
