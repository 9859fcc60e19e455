import { redactedPlaceholder as redacted } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import { type AuditDetails, type AuditEntryInput, type AuditMark, idFields } from "./entry.ts";
import type { AuditEntryLimits } from "./limits.ts";
import type { Redactor } from "./redactor.ts";

/** What a terminal or an editor would obey or hide: controls, line separators, directional and invisible marks. */
const deceptive =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Whether there may be any: this is much quicker to tell. */
const beyondAscii = /[^\0-~]/;

const escapeOf = (character: string): string => {
  let escaped = "";
  for (let at = 0; at < character.length; at++)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
};

/** Characters of each string in an entry that is too large with longer ones. */
const shortLength = 32;

export interface EntryFormat {
  readonly redactor: Redactor;
  readonly limits: AuditEntryLimits;
}

/**
 * An entry as one line of JSON, without its end: secrets taken out, long strings cut, and characters that a terminal would obey or
 * hide escaped. `marks` says what was done.
 */
export const formatEntry = (
  entry: AuditEntryInput,
  seq: number,
  timeMs: number,
  { redactor, limits }: EntryFormat,
): string => {
  const { maxStringLength, maxEntryBytes } = limits;
  const json = toJson(entry, seq, timeMs, { redactor, maxStringLength });
  // A character has at most three bytes.
  if (json.length * 3 <= maxEntryBytes || utf8Length(json) <= maxEntryBytes) return json;
  const marks: AuditMark[] = ["cut"];
  const small = { ...entry, details: undefined };
  return toJson(small, seq, timeMs, { redactor, maxStringLength: shortLength }, marks);
};

const toJson = (
  entry: AuditEntryInput,
  seq: number,
  timeMs: number,
  { redactor, maxStringLength }: { readonly redactor: Redactor; readonly maxStringLength: number },
  first: readonly AuditMark[] = [],
): string => {
  const marks = new Set<AuditMark>(first);
  const text = (value: string): string => {
    const clean = redactor.beginning(value, maxStringLength);
    if (clean !== value && !value.startsWith(clean)) marks.add("redacted");
    if (value.length <= maxStringLength && clean.length <= maxStringLength) return clean;
    marks.add("cut");
    return `${clean.slice(0, maxStringLength)}… [cut, ${value.length} characters]`;
  };
  const detail = (key: string, value: AuditDetails[string]): unknown => {
    if (value !== null && typeof value !== "boolean" && redactor.isSecretKey(key)) {
      marks.add("redacted");
      return redacted;
    }
    if (typeof value === "string") return text(value);
    // What is not a fact is content.
    return typeof value === "object" && value !== null ? "[object]" : value;
  };
  const line: Record<string, unknown> = {
    seq,
    time: isoTime(timeMs),
    action: entry.action,
    outcome: entry.outcome,
    actor: entry.actor && { type: text(entry.actor.type), id: text(entry.actor.id) },
  };
  for (const name of idFields) {
    const id = entry[name];
    if (id !== undefined) line[name] = text(id);
  }
  line.duration_ms = entry.duration_ms;
  const details: [string, unknown][] = [];
  for (const [key, value] of Object.entries(entry.details ?? {})) {
    if (value !== undefined) details.push([text(key), detail(key, value)]);
  }
  line.details = entry.details && Object.fromEntries(details);
  if (marks.size > 0) line.marks = [...marks];
  const json = JSON.stringify(line);
  return beyondAscii.test(json) ? json.replace(deceptive, escapeOf) : json;
};
