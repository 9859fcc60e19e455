import { isSecretKey, redactedPlaceholder, redactSecrets } from "@harnesskit/audit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { jsonProblem, maxMessageDepth } from "@harnesskit/wire/json";
import { cutText } from "../cut-text.ts";
import { mapJson } from "../map-json.ts";

/** Characters of one event in the audit. */
export const maxEventLength = 65_536;
/** Characters that are kept of each string of an event that is longer than that. */
const maxStringLength = 2048;

/** An event as an audit may keep it. */
export interface RecordedEvent {
  /** JSON of the event without its secrets. */
  readonly text: string;
  /** Whether long strings of it were cut. */
  readonly isCut: boolean;
}

const withoutSecrets = (part: unknown, key: string | undefined): unknown => {
  if (key !== undefined && part !== null && typeof part !== "boolean" && isSecretKey(key))
    return redactedPlaceholder;
  return typeof part === "string" ? redactSecrets(part) : undefined;
};

const cutStrings = (part: unknown): unknown =>
  typeof part === "string" ? cutText(part, maxStringLength) : undefined;

/** The names by which the log recognises a secret in a string. */
const names =
  /([abcdnpst])(uth(?=orization)|ookie|earer|asic|igest|egotiate|ass(?=w|phrase)|wd|ecret|oken|pi(?=[-_ ]?key)|ccess(?=[-_]?key)|rivate(?=[-_]?key)|redential)/gi;

/**
 * JSON that the log keeps unchanged: the log looks for names of secrets in any string, and would remove the quotes around a
 * value that was redacted before. The second letter of a name is written as an escape, so the JSON reads the same.
 */
const escapeNames = (json: string): string =>
  json.replace(names, (_, first: string, rest: string) => {
    const code = rest.charCodeAt(0).toString(16).padStart(4, "0");
    return `${first}\\u${code}${rest.slice(1)}`;
  });

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * An event as the audit keeps it: JSON of at most 65,536 characters, with `[redacted]` in the place of what has the shape or
 * the name of a secret. Each string of a longer event is cut to 2048 characters. Undefined where it is still too long, too
 * deep, or the log would change it.
 */
export const recordedEvent = (event: AhpEvent): RecordedEvent | undefined => {
  if (jsonProblem(event, { maxDepth: maxMessageDepth })) return undefined;
  const clean = mapJson(event, withoutSecrets);
  let text = JSON.stringify(clean);
  const isCut = text.length > maxEventLength;
  if (isCut) text = JSON.stringify(mapJson(clean, cutStrings));
  if (redactSecrets(text) !== text) text = escapeNames(text);
  if (text.length > maxEventLength) return undefined;
  const safe = redactSecrets(text);
  return safe === text || isJson(safe) ? { text: safe, isCut } : undefined;
};
