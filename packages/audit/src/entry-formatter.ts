import { utf8Length } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import type { AuditDetails, AuditEntryInput } from "./entry.ts";
import { type AuditMark, AuditMarkSchema, AuditOutcomeSchema } from "./entry.ts";
import { type DetailWriter, flattenDetails } from "./flatten-details.ts";
import type { AuditEntryLimits } from "./limits.ts";
import type { Redactor } from "./redactor.ts";
import { toSafeJson } from "./safe-json.ts";
import { EntrySnapshot } from "./snapshot.ts";

const marks: readonly AuditMark[] = AuditMarkSchema.options;
const outcomes: ReadonlySet<unknown> = new Set(AuditOutcomeSchema.options);
const actionShape = /^(?!audit\.)\w[\w-]{0,63}(?:\.[\w-]{1,64}){0,7}$/;
const longestAction = 1024;
/** Bytes that the seal, the check and the end of a line need besides its body. */
const overheadBytes = 128;
/** Characters of a string in an entry that is too large with longer ones. */
const smallStringLength = 32;

const toIso = (timeMs: number): string => {
  const isUsable = timeMs >= 0 && timeMs < 253_402_300_800_000;
  return isoTime(isUsable ? timeMs : 0);
};

/** Writes entries as JSON, one at a time: redacted, bounded, safe to show. */
export class EntryFormatter {
  readonly #redactor: Redactor;
  readonly #maxBodyBytes: number;
  readonly #details: DetailWriter;
  /** Of the entry that is being written. */
  readonly #marks = new Set<AuditMark>();
  #maxStringLength: number;
  /** The last ids and the last action that were written as they are, by their fields: the next entry often has the same. */
  readonly #lastPlain = new Map<string, string>();
  /** The redactor's `added` when these were written. */
  #plainSince = 0;

  constructor(redactor: Redactor, limits: AuditEntryLimits) {
    this.#redactor = redactor;
    this.#maxBodyBytes = limits.maxEntryBytes - overheadBytes;
    this.#maxStringLength = limits.maxStringLength;
    this.#details = {
      maxKeys: limits.maxKeys,
      maxDepth: limits.maxDepth,
      text: (text) => this.#text(text),
      isSecretKey: redactor.isSecretKey,
      mark: (mark) => void this.#marks.add(mark),
    };
  }

  /** The entry as JSON without its closing brace. Never throws, whatever the entry is. Reads each field once. */
  format(entry: unknown, seq: number, timeMs: number): string {
    const found = this.#marks;
    found.clear();
    const snapshot = EntrySnapshot.of(entry);
    if (snapshot.isUnreadable) found.add("unreadable");
    if (snapshot.isInvalid) found.add("invalid");
    let body = this.#body(snapshot, seq, timeMs);
    // A character has at most three bytes.
    if (body.length * 3 > this.#maxBodyBytes && utf8Length(body) > this.#maxBodyBytes) {
      found.add("cut");
      const maxStringLength = this.#maxStringLength;
      this.#maxStringLength = smallStringLength;
      body = this.#body({ ...snapshot, details: undefined }, seq, timeMs);
      this.#maxStringLength = maxStringLength;
    }
    if (found.size === 0) return body;
    return `${body},"marks":${JSON.stringify(marks.filter((mark) => found.has(mark)))}`;
  }

  /** An entry of the log itself: an action that callers cannot use, and details that need no check. */
  formatOwn(action: `audit.${string}`, details: AuditDetails, seq: number, timeMs: number): string {
    return `{"seq":${seq},"time":"${toIso(timeMs)}","action":"${action}","details":${JSON.stringify(details)}`;
  }

  #body(entry: AuditEntryInput, seq: number, timeMs: number): string {
    const { actor, duration_ms: durationMs, details } = entry;
    let body = `{"seq":${seq},"time":"${toIso(timeMs)}","action":${this.#action(entry.action)}`;
    if (entry.outcome !== undefined) body += this.#outcome(entry.outcome);
    if (actor !== undefined) {
      body += `,"actor":{"type":${this.#actorField(actor.type)},"id":${this.#actorField(actor.id)}}`;
    }
    if (entry.agent_id !== undefined) body += this.#id("agent_id", entry.agent_id);
    if (entry.tool_id !== undefined) body += this.#id("tool_id", entry.tool_id);
    if (entry.call_id !== undefined) body += this.#id("call_id", entry.call_id);
    if (entry.session_id !== undefined) body += this.#id("session_id", entry.session_id);
    if (entry.request_id !== undefined) body += this.#id("request_id", entry.request_id);
    if (entry.correlation_id !== undefined) body += this.#id("correlation_id", entry.correlation_id);
    if (entry.causation_id !== undefined) body += this.#id("causation_id", entry.causation_id);
    if (durationMs !== undefined) body += this.#duration(durationMs);
    return details === undefined ? body : body + this.#detailsOf(details);
  }

  /** Nothing of the field is written. */
  #invalid(): "" {
    this.#marks.add("invalid");
    return "";
  }

  /** Whether the field was written like this before, whole and without a mark. */
  #isLast(field: string, value: unknown): boolean {
    if (this.#plainSince !== this.#redactor.added) {
      this.#plainSince = this.#redactor.added;
      this.#lastPlain.clear();
    }
    const isSame = typeof value === "string" && this.#lastPlain.get(field) === value;
    return isSame && value.length <= this.#maxStringLength;
  }

  #action(action: unknown): string {
    if (this.#isLast("action", action)) return `"${action as string}"`;
    const isValid = typeof action === "string" && action.length <= longestAction && actionShape.test(action);
    if (isValid && this.#redactor.text(action) === action) {
      this.#lastPlain.set("action", action);
      return `"${action}"`;
    }
    this.#invalid();
    return '"audit.invalid"';
  }

  #outcome(outcome: unknown): string {
    return outcomes.has(outcome) ? `,"outcome":"${outcome as string}"` : this.#invalid();
  }

  #actorField(value: unknown): string {
    if (typeof value === "string") return this.#text(value);
    this.#invalid();
    return '"unknown"';
  }

  #id(name: string, id: unknown): string {
    if (this.#isLast(name, id)) return `,"${name}":"${id as string}"`;
    if (typeof id === "string" && id !== "") {
      const json = this.#text(id);
      if (json === `"${id}"`) this.#lastPlain.set(name, id);
      return `,"${name}":${json}`;
    }
    this.#invalid();
    return typeof id === "number" ? `,"${name}":"${id}"` : "";
  }

  #duration(durationMs: unknown): string {
    const isValid = typeof durationMs === "number" && Number.isFinite(durationMs) && durationMs >= 0;
    return isValid ? `,"duration_ms":${durationMs}` : this.#invalid();
  }

  #detailsOf(details: AuditDetails): string {
    if (typeof details !== "object" || details === null) return this.#invalid();
    return `,"details":{${flattenDetails(details, this.#details)}}`;
  }

  #text(text: string): string {
    const max = this.#maxStringLength;
    const beginning = this.#redactor.beginning(text, max);
    if (beginning !== text && !text.startsWith(beginning)) this.#marks.add("redacted");
    if (text.length <= max && beginning.length <= max) return toSafeJson(beginning);
    this.#marks.add("cut");
    return toSafeJson(`${beginning.slice(0, max)}… [cut, ${text.length} characters]`);
  }
}
