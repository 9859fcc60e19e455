import { isPlainName, redactedPlaceholder as redacted, withoutSecretShapes } from "@harnesskit/wire";

/** A shorter value cannot be distinguished from other strings. */
const minSecretLength = 4;
/** Registered values that are longer are refused, so that a look for them stays cheap. */
const maxSecretLength = 16_384;
/** Registered values at one time. */
const maxSecrets = 1000;
/** Characters of a token of any shape by which it is recognised. */
const shapeReach = 1024;

const base64Of = (text: string): string => {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/=+$/, "");
};

const inUrl = (text: string): string => {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half a surrogate pair has no form in a URL.
    return text;
  }
};

/** How a value may be spelled: as it is, in a URL, in a header. */
const spellingsOf = (value: string): readonly string[] => {
  const base64 = base64Of(value);
  const spellings = [value, inUrl(value), base64, base64.replace(/\+/g, "-").replace(/\//g, "_")];
  return [...new Set([...spellings, JSON.stringify(value).slice(1, -1)])];
};

/**
 * Takes secrets out of texts: registered values, and what has the shape of a token, a private key or a password in a
 * URL. It cannot know a secret that was not registered and looks like any other text.
 */
export class Redactor {
  /** The registered values, each with all of its spellings. */
  readonly #known = new Map<string, readonly string[]>();
  /** Characters of the longest spelling that was ever registered. */
  #longest = 0;

  /**
   * Registers a value of 4 to 16384 characters; false for one that is not registered: too short to distinguish from other
   * text, too long, or one more than 1000.
   */
  addSecret(value: string): boolean {
    if (typeof value !== "string" || value.length < minSecretLength || value.length > maxSecretLength)
      return false;
    if (this.#known.has(value)) return true;
    if (this.#known.size >= maxSecrets) return false;
    const spellings = spellingsOf(value);
    this.#known.set(value, spellings);
    this.#longest = Math.max(this.#longest, ...spellings.map(({ length }) => length));
    return true;
  }

  /** Forgets a registered value, once it opens nothing any more. */
  removeSecret(value: string): void {
    this.#known.delete(value);
  }

  /** Whether a string is an ordinary name or id, with no secret in it and nothing that JSON escapes. False tells nothing. */
  isPlain(text: string): boolean {
    return isPlainName(text) && this.#withoutKnown(text) === text;
  }

  /** The string with `[redacted]` in the place of every secret; the same string where none is found. */
  text(text: string): string {
    return withoutSecretShapes(this.#withoutKnown(text));
  }

  /**
   * The beginning of a string without its secrets: reads further than `maxLength`, so that no secret is cut in two and
   * missed, and no further than that, however long the string is. The result may be longer than `maxLength`.
   */
  beginning(text: string, maxLength: number): string {
    const end = maxLength + shapeReach;
    if (text.length <= end) return this.text(text);
    return withoutSecretShapes(this.#withoutKnown(text.slice(0, end + this.#longest)).slice(0, end));
  }

  /** The string without the registered values, those that overlap replaced as one. */
  #withoutKnown(text: string): string {
    if (this.#known.size === 0) return text;
    const found: { readonly from: number; readonly to: number }[] = [];
    for (const spellings of this.#known.values())
      for (const spelling of spellings) {
        for (let from = text.indexOf(spelling); from !== -1; from = text.indexOf(spelling, from + 1))
          found.push({ from, to: from + spelling.length });
      }
    if (found.length === 0) return text;
    found.sort((a, b) => a.from - b.from);
    let result = "";
    let end = 0;
    for (const { from, to } of found) {
      if (from >= end) result += text.slice(end, from) + redacted;
      end = Math.max(end, to);
    }
    return result + text.slice(end);
  }
}

/** Makes a {@link Redactor}. */
export const createRedactor = (): Redactor => new Redactor();
