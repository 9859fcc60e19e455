import { redactedPlaceholder as redacted } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import type { AuditDetails, AuditEntryInput, AuditMark } from "./entry.ts";
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
  let marks: Set<AuditMark> | undefined = first.length === 0 ? undefined : new Set(first);
  const mark = (what: AuditMark): void => {
    marks ??= new Set();
    marks.add(what);
  };
  const text = (value: string): string => {
    const clean = redactor.beginning(value, maxStringLength);
    if (clean !== value && !value.startsWith(clean)) mark("redacted");
    if (value.length <= maxStringLength && clean.length <= maxStringLength) return clean;
    mark("cut");
    return `${clean.slice(0, maxStringLength)}… [cut, ${value.length} characters]`;
  };
  const id = (value: string | undefined): string | undefined => value && text(value);
  const detail = (key: string, value: AuditDetails[string]): AuditDetails[string] => {
    if (value !== null && typeof value !== "boolean" && redactor.isSecretKey(key)) {
      mark("redacted");
      return redacted;
    }
    if (typeof value === "string") return text(value);
    // What is not a fact is content.
    return typeof value === "object" && value !== null ? "[object]" : value;
  };
  const json = JSON.stringify({
    seq,
    time: isoTime(timeMs),
    action: entry.action,
    outcome: entry.outcome,
    actor: entry.actor && { type: text(entry.actor.type), id: text(entry.actor.id) },
    agent_id: id(entry.agent_id),
    tool_id: id(entry.tool_id),
    call_id: id(entry.call_id),
    session_id: id(entry.session_id),
    request_id: id(entry.request_id),
    correlation_id: id(entry.correlation_id),
    causation_id: id(entry.causation_id),
    duration_ms: entry.duration_ms,
    details: entry.details && cleanDetails(entry.details, text, detail),
    marks: marks && [...marks],
  });
  return beyondAscii.test(json) ? json.replace(deceptive, escapeOf) : json;
};

/** The details without what must not be written; the object itself where there is no such thing, as in most entries. */
const cleanDetails = (
  details: AuditDetails,
  text: (key: string) => string,
  detail: (key: string, value: AuditDetails[string]) => AuditDetails[string],
): AuditDetails => {
  let isClean = true;
  const entries: [string, AuditDetails[string]][] = [];
  for (const key of Object.keys(details)) {
    const value = details[key];
    if (value === undefined) continue;
    const entry: [string, AuditDetails[string]] = [text(key), detail(key, value)];
    isClean &&= entry[0] === key && entry[1] === value;
    entries.push(entry);
  }
  return isClean ? details : Object.fromEntries(entries);
};
