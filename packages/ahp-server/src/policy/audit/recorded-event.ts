import { isSecretKey, redactedPlaceholder, redactSecrets } from "@harnesskit/audit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { mapJson } from "../map-json.ts";

/** Characters of one event in the audit. */
export const maxEventLength = 65_536;
/** Characters that are left of each text of an event that is longer than that. */
const maxTextLength = 2048;
/** Levels of an event; a deeper one is not recorded. */
const maxDepth = 64;

/** An event as an audit may keep it. */
export interface RecordedEvent {
  /** JSON of the event without its secrets. */
  readonly text: string;
  /** Whether long texts of it were cut. */
  readonly isCut: boolean;
}

const isTooDeep = (value: unknown, depth = 0): boolean => {
  if (typeof value !== "object" || value === null) return false;
  return depth >= maxDepth || Object.values(value).some((item) => isTooDeep(item, depth + 1));
};

const withoutSecrets = (part: unknown, key: string | undefined): unknown => {
  if (key !== undefined && part !== null && typeof part !== "boolean" && isSecretKey(key))
    return redactedPlaceholder;
  return typeof part === "string" ? redactSecrets(part) : undefined;
};

const cut = (part: unknown): unknown =>
  typeof part === "string" && part.length > maxTextLength
    ? `${part.slice(0, maxTextLength - 1)}…`
    : undefined;

/** The names by which the log knows a secret in a text. */
const names =
  /([abcdnpst])(uth(?=orization)|ookie|earer|asic|igest|egotiate|ass(?=w|phrase)|wd|ecret|oken|pi(?=[-_ ]?key)|ccess(?=[-_]?key)|rivate(?=[-_]?key)|redential)/gi;

/**
 * JSON that the log leaves as it is: it looks for names of secrets in any text, and would take the quotes away with a
 * value that was taken out before. The second letter of a name is spelled as an escape, so that JSON reads the same.
 */
const spelledApart = (json: string): string =>
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
 * What an audit keeps of an event: its JSON of at most 65,536 characters, with `[redacted]` in the place of what has the
 * shape or the name of a secret. Of a longer event each text is cut to 2048 characters. Undefined where that is still
 * too long, too deep, or the log would spoil it.
 */
export const recordedEvent = (event: AhpEvent): RecordedEvent | undefined => {
  if (isTooDeep(event)) return undefined;
  const clean = mapJson(event, withoutSecrets);
  let text = JSON.stringify(clean);
  const isCut = text.length > maxEventLength;
  if (isCut) text = JSON.stringify(mapJson(clean, cut));
  if (redactSecrets(text) !== text) text = spelledApart(text);
  if (text.length > maxEventLength) return undefined;
  const safe = redactSecrets(text);
  return safe === text || isJson(safe) ? { text: safe, isCut } : undefined;
};
