import { isPlainName, redactedPlaceholder as redacted } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import type { AuditEntryInput } from "./entry.ts";
import type { Redactor } from "./redactor.ts";
import { isSecretKey } from "./secret-keys.ts";

const megabyte = 1024 * 1024;

/** What one entry may hold. What is beyond is cut, and the entry is marked `cut`. */
export const entryLimits = {
  /** Characters of one string. @default 512 */
  maxStringLength: { default: 512, min: 32, max: megabyte },
  /** Bytes of one line of the log. @default 8192 */
  maxEntryBytes: { default: 8192, min: 4096, max: megabyte },
} as const;
export type AuditEntryLimits = { readonly [Name in keyof typeof entryLimits]: number };

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

/** What stands between the quotes of a string in JSON. */
const escaped = (text: string): string => {
  if (isPlainName(text)) return text;
  const json = JSON.stringify(text).slice(1, -1);
  return beyondAscii.test(json) ? json.replace(deceptive, escapeOf) : json;
};

const number = (value: number): string => (Number.isFinite(value) ? String(value) : "null");

/** Characters of each string in an entry that is too large with longer ones. */
const shortLength = 32;

export interface EntryFormat {
  readonly redactor: Redactor;
  readonly limits: AuditEntryLimits;
}

/**
 * An entry as one line of JSON, without its closing brace: secrets taken out, long strings cut, and characters that a terminal would obey or
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
  const small = { ...entry, details: undefined };
  return toJson(small, seq, timeMs, { redactor, maxStringLength: shortLength }, true);
};

/** Written piece by piece: most strings are plain names, and stand there as they are. */
const toJson = (
  entry: AuditEntryInput,
  seq: number,
  timeMs: number,
  { redactor, maxStringLength }: { readonly redactor: Redactor; readonly maxStringLength: number },
  isCut = false,
): string => {
  let isRedacted = false;
  const text = (value: string): string => {
    if (value.length <= maxStringLength && redactor.isPlain(value)) return value;
    const clean = redactor.beginning(value, maxStringLength);
    if (clean !== value && !value.startsWith(clean)) isRedacted = true;
    if (value.length <= maxStringLength && clean.length <= maxStringLength) return escaped(clean);
    isCut = true;
    return escaped(`${clean.slice(0, maxStringLength)}… [cut, ${value.length} characters]`);
  };
  const id = (name: string, value: string | undefined): string =>
    value ? `,"${name}":"${text(value)}"` : "";
  const { outcome, actor, duration_ms, details } = entry;
  let json = `{"seq":${seq},"time":"${isoTime(timeMs)}","action":"${escaped(entry.action)}"`;
  if (outcome) json += `,"outcome":"${escaped(outcome)}"`;
  if (actor) json += `,"actor":{"type":"${text(actor.type)}","id":"${text(actor.id)}"}`;
  // One by one: a loop over their names reads them several times slower.
  json += id("agent_id", entry.agent_id) + id("tool_id", entry.tool_id) + id("call_id", entry.call_id);
  json += id("session_id", entry.session_id) + id("request_id", entry.request_id);
  json += id("correlation_id", entry.correlation_id) + id("causation_id", entry.causation_id);
  if (duration_ms !== undefined) json += `,"duration_ms":${number(duration_ms)}`;
  if (details) {
    let before = ',"details":{"';
    for (const key of Object.keys(details)) {
      const value = details[key];
      if (value === undefined) continue;
      json += before + text(key);
      before = ',"';
      if (value === null || typeof value === "boolean") json += `":${value}`;
      else if (isSecretKey(key)) {
        isRedacted = true;
        json += `":"${redacted}"`;
      } else if (typeof value === "string") json += `":"${text(value)}"`;
      // What is not a fact is content.
      else json += typeof value === "number" ? `":${number(value)}` : '":"[object]"';
    }
    json += before === ',"' ? "}" : ',"details":{}';
  }
  if (isRedacted) json += `,"marks":["redacted"${isCut ? ',"cut"' : ""}]`;
  else if (isCut) json += ',"marks":["cut"]';
  return json;
};
