import { isSecretKey, redactedPlaceholder, redactSecrets } from "@harnesskit/audit";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { RowContent } from "@harnesskit/protocol/hub";
import { displayText } from "@harnesskit/wire";

export interface ContentRules {
  /** Characters of one content as JSON. */
  readonly maxLength: number;
  /** More names of fields whose values are not kept, in lower case. */
  readonly secretFields: ReadonlySet<string>;
}

/** Characters that are kept of each string where the whole is too long. */
const shortLength = 1024;
const maxDepth = 32;
const minSecretLength = 12;
const maxItems = 1000;

const isSecret = (key: string, { secretFields }: ContentRules): boolean =>
  isSecretKey(key) || secretFields.has(key.toLowerCase());

interface Walk {
  readonly rules: ContentRules;
  readonly maxString: number;
  isCut: boolean;
}

const cutString = (text: string, walk: Walk): string => {
  // Too short for a token, and nothing is assigned in it.
  if (text.length < minSecretLength && !/[=:]/.test(text)) return text;
  const safe = redactSecrets(text.length > 4 * walk.maxString ? text.slice(0, 4 * walk.maxString) : text);
  if (text.length <= walk.maxString) return safe;
  walk.isCut = true;
  const kept = safe.slice(0, walk.maxString).replace(/[\ud800-\udbff]$/, "");
  return `${kept}… [${text.length - kept.length} more characters]`;
};

const cutValue = (value: unknown, walk: Walk, depth: number): JsonValue => {
  if (typeof value === "string") return cutString(value, walk);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null) return null;
  if (depth === 0) {
    walk.isCut = true;
    return "…";
  }
  if (Array.isArray(value)) {
    if (value.length > maxItems) walk.isCut = true;
    return value.slice(0, maxItems).map((item) => cutValue(item, walk, depth - 1));
  }
  const entries = Object.entries(value);
  if (entries.length > maxItems) walk.isCut = true;
  return Object.fromEntries(
    entries
      .slice(0, maxItems)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]): [string, JsonValue] => [
        key,
        isSecret(key, walk.rules) && item !== null && typeof item !== "boolean"
          ? redactedPlaceholder
          : cutValue(item, walk, depth - 1),
      ]),
  );
};

/** Names that may be those of secrets: then each field is looked at. */
const suspicious = /pass|secret|token|key|auth|cred|cookie|pwd|bearer|private|[^ -~]/i;

/** Whether a value may be kept as it is: nothing in its JSON looks like a secret, and it is small. */
const isHarmless = (value: unknown, { maxLength, secretFields }: ContentRules): boolean => {
  if (secretFields.size > 0) return false;
  const text = JSON.stringify(value);
  return (
    text !== undefined && text.length <= maxLength && !suspicious.test(text) && redactSecrets(text) === text
  );
};

/** JSON as the timeline keeps it: without secrets, within a size. Never throws for JSON. */
export const rowContent = (value: unknown, rules: ContentRules): RowContent => {
  if (isHarmless(value, rules)) return { value: value as JsonValue, isCut: false };
  const walk: Walk = { rules, maxString: Math.max(shortLength, rules.maxLength / 4), isCut: false };
  const whole = cutValue(value, walk, maxDepth);
  if (JSON.stringify(whole).length <= rules.maxLength) return { value: whole, isCut: walk.isCut };
  const short: Walk = { rules, maxString: shortLength, isCut: true };
  const cut = cutValue(value, short, maxDepth);
  const again = JSON.stringify(cut);
  if (again.length <= rules.maxLength) return { value: cut, isCut: true };
  return {
    value: `${displayText(again.slice(0, rules.maxLength), { maxLength: rules.maxLength })}…`,
    isCut: true,
  };
};

/** One line without secrets, safe to show. */
export const redactedLine = (text: string, maxLength = 500): string =>
  displayText(redactSecrets(text.length > 4 * maxLength ? text.slice(0, 4 * maxLength) : text), {
    maxLength,
  });
