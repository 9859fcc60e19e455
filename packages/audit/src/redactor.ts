import { InvalidArgumentError, redactedPlaceholder as redacted, withoutSecretShapes } from "@harnesskit/wire";
import { checkRedactorOptions } from "./option-names.ts";
import { secretKeyJudge } from "./secret-keys.ts";
import { SecretSet } from "./secret-set.ts";

export interface RedactorOptions {
  /** Keys whose values are secret, besides those that are known: `employee_number`. @default [] */
  readonly secretKeys?: readonly string[] | undefined;
  /** Values that are never written. @default [] */
  readonly secrets?: readonly string[] | undefined;
}

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
  readonly isSecretKey: (key: string) => boolean;
  readonly #known = new SecretSet();
  readonly #values = new Set<string>();

  /** Throws `invalid_argument`. */
  constructor(options: RedactorOptions = {}) {
    this.isSecretKey = secretKeyJudge(options.secretKeys);
    for (const secret of options.secrets ?? []) {
      if (!this.addSecret(secret)) {
        throw new InvalidArgumentError(
          `each of at most ${maxSecrets} secrets must have ${SecretSet.minLength} to ${maxSecretLength} characters`,
        );
      }
    }
  }

  /**
   * Registers a value of 4 to 16384 characters; false for one that is not registered: too short to distinguish from other
   * text, too long, or one more than 1000.
   */
  addSecret(value: string): boolean {
    if (typeof value !== "string" || value.length < SecretSet.minLength || value.length > maxSecretLength)
      return false;
    if (this.#values.has(value)) return true;
    if (this.#values.size >= maxSecrets) return false;
    this.#values.add(value);
    for (const spelling of spellingsOf(value)) this.#known.add(spelling);
    return true;
  }

  /** Forgets a registered value, once it opens nothing any more. */
  removeSecret(value: string): void {
    if (!this.#values.has(value)) return;
    this.#values.delete(value);
    for (const spelling of spellingsOf(value)) this.#known.delete(spelling);
  }

  /** The string with `[redacted]` in the place of every secret; the same string where none is found. */
  text(text: string): string {
    return withoutSecretShapes(this.#known.replace(text, redacted));
  }

  /**
   * The beginning of a string without its secrets: reads further than `maxLength`, so that no secret is cut in two and
   * missed, and no further than that, however long the string is. The result may be longer than `maxLength`.
   */
  beginning(text: string, maxLength: number): string {
    const end = maxLength + shapeReach;
    if (text.length <= end) return this.text(text);
    const known = this.#known.replace(text.slice(0, end + this.#known.longest), redacted).slice(0, end);
    return withoutSecretShapes(known);
  }
}

/** Makes a {@link Redactor}. Throws `invalid_argument`. */
export const createRedactor = (options: RedactorOptions = {}): Redactor =>
  new Redactor(checkRedactorOptions(options));
