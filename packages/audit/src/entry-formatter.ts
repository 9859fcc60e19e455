import type { AuditDetails, AuditEntryInput } from "./entry.ts";
import type { AuditMark } from "./entry-schema.ts";
import { type DetailWriter, flattenDetails } from "./flatten-details.ts";
import type { SetLimits } from "./limits.ts";
import type { Redactor } from "./redactor.ts";
import { isPlain, isPrintable, toSafeJson } from "./safe-json.ts";
import { snapshotOf } from "./snapshot.ts";

const marks: readonly AuditMark[] = ["redacted", "cut", "unreadable", "invalid"];
const outcomes = new Set<string>(["ok", "refused", "failed", "timeout", "cancelled", "limited"]);
const actionShape = /^(?!audit\.)\w[\w-]{0,63}(?:\.[\w-]{1,64}){0,7}$/;
/** Bytes that the seal, the check and the end of a line need besides its body. */
const overheadBytes = 128;
const maxCached = 1024;
const longestCached = 256;
const smallStringLength = 32;

const marksOf = (flags: number): string => {
  if (flags === 0) return "";
  const names = marks.filter((_, index) => (flags & (1 << index)) !== 0);
  return `,"marks":${JSON.stringify(names)}`;
};

const toIso = (timeMs: number): string => {
  const isUsable = timeMs >= 0 && timeMs < 253_402_300_800_000;
  return new Date(isUsable ? timeMs : 0).toISOString();
};

/** What was made of the beginning of an entry, and what of. */
interface Head {
  readonly action: unknown;
  readonly outcome: unknown;
  readonly agent: unknown;
  readonly tool: unknown;
  readonly session: unknown;
  /** From the action to the tool. */
  readonly before: string;
  /** The session. */
  readonly after: string;
}

/** Details that were written last, and their JSON: of each field, empty where it is left out, and of the whole. */
interface Written {
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
  readonly fields: readonly string[];
  readonly json: string;
}

/** No details have these keys. */
const noneWritten: Written = { keys: [""], values: [], fields: [], json: "" };

const isSame = (keys: readonly string[], details: AuditDetails, last: Written): boolean => {
  if (keys.length !== last.keys.length) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    if (key !== last.keys[index] || details[key] !== last.values[index]) return false;
  }
  return true;
};

/** No entry has this action. */
const noHead: Head = {
  action: Symbol("none"),
  outcome: undefined,
  agent: undefined,
  tool: undefined,
  session: undefined,
  before: "",
  after: "",
};

/** Writes entries as JSON: redacted, bounded, safe to show. Plain entries take a short way. */
export class EntryFormatter {
  readonly #redactor: Redactor;
  readonly #limits: SetLimits;
  readonly #writer: DetailWriter;
  /** JSON of texts that hold nothing to take out. */
  readonly #texts = new Map<string, string>();
  /** JSON of the keys of details, with the colon; empty for a key whose value is secret or that is not plain. */
  readonly #keys = new Map<string, string>();
  readonly #actions = new Map<string, string>();
  #generation = -1;
  #flags = 0;
  #maxStringLength: number;
  #lastHead: Head = noHead;
  #lastDetails: Written = noneWritten;
  #lastTimeMs = Number.NaN;
  #lastTime = "";

  constructor(redactor: Redactor, limits: SetLimits) {
    this.#redactor = redactor;
    this.#limits = limits;
    this.#maxStringLength = limits.maxStringLength;
    this.#writer = {
      maxKeys: limits.maxKeys,
      maxDepth: limits.maxDepth,
      text: (text) => this.#text(text),
      isSecretKey: redactor.isSecretKey,
      mark: (mark) => this.#mark(mark),
    };
  }

  /** The entry as JSON without its closing brace. Never throws, whatever the entry is. */
  format(entry: AuditEntryInput, seq: number, timeMs: number): string {
    if (!this.#isCurrent) this.#forget();
    this.#flags = 0;
    try {
      return this.#bounded(this.#write(entry, seq, timeMs, false), entry, seq, timeMs);
    } catch {
      return this.#formatHostile(entry, seq, timeMs);
    }
  }

  /** An entry of the log itself: an action that callers cannot use, and details that need no look. */
  formatOwn(action: `audit.${string}`, details: AuditDetails, seq: number, timeMs: number): string {
    return `{"seq":${seq},"time":"${this.#time(timeMs)}","action":"${action}","details":${JSON.stringify(details)}`;
  }

  #formatHostile(entry: unknown, seq: number, timeMs: number): string {
    this.#flags = 0;
    const { snapshot, isUnreadable, isInvalid } = snapshotOf(entry);
    if (isUnreadable) this.#mark("unreadable");
    if (isInvalid) this.#mark("invalid");
    return this.#bounded(this.#write(snapshot, seq, timeMs, true), snapshot, seq, timeMs);
  }

  /** The body, or a short one where it would be larger than a line may be. */
  #bounded(body: string, entry: AuditEntryInput, seq: number, timeMs: number): string {
    const max = this.#limits.maxEntryBytes - overheadBytes;
    if (body.length * 3 <= max) return body + marksOf(this.#flags);
    if (new TextEncoder().encode(body).length <= max) return body + marksOf(this.#flags);
    this.#mark("cut");
    this.#maxStringLength = smallStringLength;
    try {
      const { snapshot } = snapshotOf(entry);
      return this.#write({ ...snapshot, details: undefined }, seq, timeMs, true) + marksOf(this.#flags);
    } finally {
      this.#maxStringLength = this.#limits.maxStringLength;
    }
  }

  #write(entry: AuditEntryInput, seq: number, timeMs: number, isHostile: boolean): string {
    const { before, after } = this.#head(entry);
    let body = `{"seq":${seq},"time":"${this.#time(timeMs)}",${before}`;
    const { duration_ms: durationMs, details } = entry;
    if (entry.call_id !== undefined) body += this.#id(',"call_id":', entry.call_id);
    body += after;
    if (entry.request_id !== undefined) body += this.#id(',"request_id":', entry.request_id);
    if (entry.correlation_id !== undefined) body += this.#id(',"correlation_id":', entry.correlation_id);
    if (entry.causation_id !== undefined) body += this.#id(',"causation_id":', entry.causation_id);
    if (durationMs !== undefined) body += this.#duration(durationMs);
    if (details !== undefined) body += this.#details(details, isHostile);
    return body;
  }

  /** What stands around the call's id. What one agent does in a row has mostly the same: it is made once. */
  #head(entry: AuditEntryInput): Head {
    const last = this.#lastHead;
    const isSame =
      entry.actor === undefined &&
      entry.action === last.action &&
      entry.outcome === last.outcome &&
      entry.agent_id === last.agent &&
      entry.tool_id === last.tool &&
      entry.session_id === last.session;
    return isSame && this.#isWhole ? last : this.#newHead(entry);
  }

  #newHead({ action, outcome, actor, agent_id, tool_id, session_id }: AuditEntryInput): Head {
    const flags = this.#flags;
    this.#flags = 0;
    const parts = [`"action":${this.#action(action)}`];
    if (outcome !== undefined) parts.push(this.#outcome(outcome));
    if (actor !== undefined) {
      parts.push(`,"actor":{"type":${this.#actorField(actor?.type)},"id":${this.#actorField(actor?.id)}}`);
    }
    if (agent_id !== undefined) parts.push(this.#id(',"agent_id":', agent_id));
    if (tool_id !== undefined) parts.push(this.#id(',"tool_id":', tool_id));
    const before = parts.join("");
    const after = session_id === undefined ? "" : this.#id(',"session_id":', session_id);
    const head = { action, outcome, agent: agent_id, tool: tool_id, session: session_id, before, after };
    if (this.#flags === 0 && this.#isWhole && this.#isCurrent && actor === undefined) this.#lastHead = head;
    this.#flags |= flags;
    return head;
  }

  /** Whether texts may be as long as the limits say: an entry that is too large is written with short ones. */
  get #isWhole(): boolean {
    return this.#maxStringLength === this.#limits.maxStringLength;
  }

  /** Whether no secret came since the entry was begun: a value that was read may bring one. */
  get #isCurrent(): boolean {
    return this.#generation === this.#redactor.generation;
  }

  #mark(mark: AuditMark): void {
    this.#flags |= 1 << marks.indexOf(mark);
  }

  #forget(): void {
    this.#generation = this.#redactor.generation;
    this.#texts.clear();
    this.#keys.clear();
    this.#actions.clear();
    this.#lastHead = noHead;
    this.#lastDetails = noneWritten;
  }

  #time(timeMs: number): string {
    if (timeMs === this.#lastTimeMs) return this.#lastTime;
    this.#lastTime = toIso(timeMs);
    this.#lastTimeMs = timeMs;
    return this.#lastTime;
  }

  #action(action: unknown): string {
    const isShort = typeof action === "string" && action.length <= longestCached;
    const known = isShort ? this.#actions.get(action) : undefined;
    if (known !== undefined) return known;
    if (!isShort || !actionShape.test(action) || this.#redactor.text(action) !== action) {
      this.#mark("invalid");
      return '"audit.invalid"';
    }
    if (this.#actions.size >= maxCached) this.#actions.clear();
    this.#actions.set(action, `"${action}"`);
    return `"${action}"`;
  }

  #outcome(outcome: unknown): string {
    if (typeof outcome === "string" && outcome.length < 16 && outcomes.has(outcome))
      return `,"outcome":"${outcome}"`;
    this.#mark("invalid");
    return "";
  }

  #actorField(value: unknown): string {
    if (typeof value === "string") return this.#text(value);
    this.#mark("invalid");
    return '"unknown"';
  }

  #id(prefix: string, id: unknown): string {
    if (typeof id === "string" && id !== "") return prefix + this.#text(id);
    this.#mark("invalid");
    return typeof id === "number" ? `${prefix}"${id}"` : "";
  }

  #duration(durationMs: unknown): string {
    if (typeof durationMs === "number" && Number.isFinite(durationMs) && durationMs >= 0) {
      return `,"duration_ms":${durationMs}`;
    }
    this.#mark("invalid");
    return "";
  }

  #text(text: string): string {
    if (
      isPlain(text) &&
      text.length < this.#redactor.shortestSecret &&
      text.length <= this.#maxStringLength
    ) {
      return `"${text}"`;
    }
    const isCacheable = text.length <= longestCached && text.length <= this.#maxStringLength;
    const known = isCacheable ? this.#texts.get(text) : undefined;
    if (known !== undefined) return known;
    const beginning = this.#redactor.beginning(text, this.#maxStringLength);
    const isRedacted = !text.startsWith(beginning);
    if (isRedacted) this.#mark("redacted");
    if (text.length > this.#maxStringLength || beginning.length > this.#maxStringLength) {
      this.#mark("cut");
      return toSafeJson(`${beginning.slice(0, this.#maxStringLength)}… [cut, ${text.length} characters]`);
    }
    const json = isPrintable(beginning) ? `"${beginning}"` : toSafeJson(beginning);
    if (!isRedacted && isCacheable) {
      if (this.#texts.size >= maxCached) this.#texts.clear();
      this.#texts.set(text, json);
    }
    return json;
  }

  #key(key: string): string {
    const isCacheable = key.length <= longestCached;
    const known = isCacheable ? this.#keys.get(key) : undefined;
    if (known !== undefined) return known;
    const isOrdinary =
      isPrintable(key) &&
      key !== "" &&
      key !== "__proto__" &&
      key.length <= smallStringLength &&
      !this.#redactor.isSecretKey(key) &&
      this.#redactor.text(key) === key;
    const json = isOrdinary ? `"${key}":` : "";
    if (isCacheable) {
      if (this.#keys.size >= maxCached) this.#keys.clear();
      this.#keys.set(key, json);
    }
    return json;
  }

  #details(details: AuditDetails, isHostile: boolean): string {
    const plain = isHostile ? undefined : this.#plainDetails(details);
    if (plain !== undefined) return plain;
    if (typeof details === "object" && details !== null) {
      return `,"details":{${flattenDetails(details, this.#writer)}}`;
    }
    this.#mark("invalid");
    return "";
  }

  /** Details that are flat, with ordinary keys; undefined for others. What many in a row have the same is written once. */
  #plainDetails(details: AuditDetails): string | undefined {
    if (typeof details !== "object" || details === null) return undefined;
    const keys = Object.keys(details);
    const last = this.#isWhole ? this.#lastDetails : noneWritten;
    if (isSame(keys, details, last)) return last.json;
    if (keys.length > this.#limits.maxKeys) return undefined;
    const flags = this.#flags;
    this.#flags = 0;
    const written = this.#plainFields(keys, details, last);
    if (written !== undefined && this.#flags === 0 && this.#isWhole && this.#isCurrent) {
      this.#lastDetails = written;
    }
    this.#flags |= flags;
    return written?.json;
  }

  #plainFields(keys: readonly string[], details: AuditDetails, last: Written): Written | undefined {
    const values: unknown[] = [];
    const fields: string[] = [];
    let json = "";
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] ?? "";
      const value = details[key];
      const isKnown = this.#isCurrent && key === last.keys[index] && value === last.values[index];
      const field = isKnown ? last.fields[index] : this.#plainField(key, value);
      if (field === undefined) return undefined;
      values.push(value);
      fields.push(field);
      if (field !== "") json += json === "" ? field : `,${field}`;
    }
    return { keys, values, fields, json: `,"details":{${json}}` };
  }

  /** Empty for a field without a value; undefined for one that is not plain. */
  #plainField(key: string, value: unknown): string | undefined {
    if (value === undefined) return "";
    const name = this.#key(key);
    if (name === "") return undefined;
    if (typeof value === "string") return name + this.#text(value);
    const isPlainValue = typeof value === "boolean" || value === null || Number.isFinite(value);
    return isPlainValue ? `${name}${value}` : undefined;
  }
}
