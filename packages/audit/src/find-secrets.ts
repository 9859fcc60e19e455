import { redactedPlaceholder as redacted, withoutSecretShapes } from "@harnesskit/wire";

export type SecretKind = "private-key" | "token" | "header" | "url" | "assignment";

/** A secret found in a string. */
export interface FoundSecret {
  readonly kind: SecretKind;
  /** UTF-16 offset in the string. */
  readonly at: number;
  readonly length: number;
  /** Whether its shape alone tells: `password: text` may be an ordinary sentence, `ghp_…` cannot be. */
  readonly certain: boolean;
}

const kindOf = (text: string, at: number, value: string): SecretKind => {
  if (value.startsWith("-----BEGIN")) return "private-key";
  const before = text.slice(Math.max(0, at - 40), at);
  if (/:\/\/$/.test(before)) return "url";
  if (/(?:authorization|cookie)["']?\s{0,8}[:=]\s{0,8}$/i.test(before)) return "header";
  if (/\b(?:Bearer|Basic|Digest|Negotiate)(?:\s+|%20|\+)$/i.test(before)) return "header";
  return /(?:=|:|%3[dD])\s{0,8}$/.test(before) && !tokenShape.test(value) ? "assignment" : "token";
};

const tokenShape =
  /^["']?(?:gh[a-z]_|github_pat_|glpat-|xox|xapp-|AIza|ya29|A[A-Z]{2}A|npm_|pypi-|hf_|dop_|SG\.|eyJ|[srp]k[-_])[\w.-]{12,}/;

/** Whether the value of a password or key is neither a variable nor a word of a sentence. */
export const isCertainSecret = (value: string, kind: SecretKind = "assignment"): boolean => {
  if (kind === "private-key" || kind === "token") return true;
  if (/[$<>{}*]|…|[\uE000-\uE003]|^["']?(?:x{3,}|your|example|placeholder|changeme|dummy|test)/i.test(value))
    return false;
  if (kind === "url") return /^[^:]*:[^:]+$|^\w{20,}/.test(value);
  if (kind === "header") return /[\w.~+/=-]{12,}/.test(value) && /\d/.test(value);
  return (
    tokenShape.test(value) ||
    (/^["']?[\w.~+/=-]{16,}/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value))
  );
};

/**
 * Finds what has the shape of a secret: tokens of known makers, private keys, passwords in URLs, values of
 * authorization headers, and values that are assigned to a name such as `api_key`, in linear time. It knows
 * shapes only; a password that looks like any other word is found only by the name before it.
 */
export const findSecrets = (text: string): readonly FoundSecret[] => {
  const clean = withoutSecretShapes(text);
  if (clean === text) return [];
  const kept = clean.split(redacted);
  const found: FoundSecret[] = [];
  let at = kept[0]?.length ?? 0;
  kept.slice(1).forEach((next, index) => {
    const last = index === kept.length - 2;
    // At least one character was replaced; what follows stands in both texts.
    const end = last ? text.length - next.length : next === "" ? at + 1 : text.indexOf(next, at + 1);
    const stop = end === -1 ? text.length : end;
    const value = text.slice(at, stop);
    if (value !== "" && value !== redacted) {
      const kind = kindOf(text, at, value);
      found.push({ kind, at, length: value.length, certain: isCertainSecret(value, kind) });
    }
    at = stop + next.length;
  });
  return found;
};

/** Which secrets are taken out: all, or only those whose shape alone tells. */
export interface RedactSecretsOptions {
  /** @default false */
  readonly certainOnly?: boolean | undefined;
}

/** The string with `[redacted]` in the place of each secret that {@link findSecrets} finds. */
export const redactSecrets = (text: string, { certainOnly = false }: RedactSecretsOptions = {}): string => {
  if (!certainOnly) return withoutSecretShapes(text);
  let clean = "";
  let from = 0;
  for (const { at, length, certain } of findSecrets(text)) {
    if (!certain) continue;
    clean += text.slice(from, at) + redacted;
    from = at + length;
  }
  return from === 0 ? text : clean + text.slice(from);
};
