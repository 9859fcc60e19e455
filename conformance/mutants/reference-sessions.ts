import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChatMessageSchema } from "@harnesskit/protocol/chat";
import { type Json, Thrown } from "./reference-script.ts";

/** The state of the graph of scripts. */
export const defaults: Json = {
  messages: [],
  note: "none",
  answer: "",
  list: [],
  map: {},
  flat: [],
  all: {},
  bounded: [],
  unique: [],
  keyed: [],
};
/** What is not part of a session. */
export const outside: Json = { scratch: 0, script: [], cursor: 0 };
const migrations: Record<string, [string, (state: Json) => Json]> = {
  "1": ["2", (state) => ({ ...state, note: `two ${state.note}` })],
  "2": ["3", (state) => ({ ...state, note: `three ${state.note}` })],
  "0": [
    "3",
    () => {
      throw new Error("it cannot be migrated");
    },
  ],
};

export const copy = (value: Json): Json =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

/** The sessions and pauses of the reference chat harness, in a file. */
export class ReferenceSessions {
  readonly stored: { sessions: Json; paused: Json };
  readonly counts = { loads: 0, saves: 0, runs: 0 };
  readonly faults = new Set<string>();
  version = "";
  readonly #file: string;
  readonly #skips: (rule: string) => boolean;

  constructor(directory: string, skips: (rule: string) => boolean) {
    this.#file = join(directory, "chat.json");
    this.#skips = skips;
    const isThere = existsSync(this.#file) && !skips("durable");
    this.stored = isThere ? JSON.parse(readFileSync(this.#file, "utf8")) : { sessions: {}, paused: {} };
  }

  write(): void {
    writeFileSync(this.#file, JSON.stringify(this.stored));
  }

  #failAt(what: string, category: string): void {
    if (this.faults.delete(what)) throw new Thrown(category, `it fails at ${what}`);
  }

  load(session: string): Json {
    this.counts.loads += 1;
    if (this.#skips("one-load")) this.counts.loads += 1;
    if (!this.#skips("load-fails")) this.#failAt("load", "session_load_failed");
    else this.faults.delete("load");
    const record = this.stored.sessions[session];
    if (record === undefined && this.#skips("no-record"))
      throw new Thrown("session_load_failed", "no record");
    if (record === undefined) return copy({ ...defaults, ...outside });
    let { state, schema_version: at } = copy(record);
    if (this.version !== "" && at === this.version && this.#skips("equal-versions"))
      state = migrations["2"]?.[1](state);
    if (this.version !== "" && !this.#skips("migrates")) {
      while (at !== this.version) {
        const [to, migrate] = migrations[at] ?? [];
        if (to === undefined || migrate === undefined) {
          if (this.#skips("missing")) break;
          throw new Thrown("session_state_migration_missing", "no migration");
        }
        try {
          state = migrate(state);
        } catch {
          if (!this.#skips("migration-fails")) throw new Thrown("session_state_migration_failed", "it threw");
        }
        at = to;
      }
    }
    const isValid =
      (state.note === undefined || typeof state.note === "string") &&
      (state.messages ?? []).every?.((each: Json) => ChatMessageSchema.safeParse(each).success);
    if (isValid !== true && !this.#skips("stored-shape"))
      throw new Thrown("session_load_failed", "it does not fit");
    const base = this.#skips("record-defaults") ? outside : { ...defaults, ...outside };
    const kept = this.#skips("loads") ? { messages: state.messages } : state;
    return { ...copy(base), ...kept, ...(this.#skips("shape") ? {} : copy(outside)) };
  }

  save(session: string, state: Json): void {
    this.counts.saves += 1;
    if (!this.#skips("save-fails")) this.#failAt("save", "session_save_failed");
    else this.faults.delete("save");
    const names = [
      ...Object.keys(defaults),
      ...(this.#skips("shape") || this.#skips("whole") ? ["scratch"] : []),
    ];
    const kept = Object.fromEntries(names.map((name) => [name, state[name]]));
    if (this.#skips("keeps-note")) kept.note = "none";
    const schema_version = this.#skips("version") ? "" : this.version;
    if (!this.#skips("saves"))
      this.stored.sessions[session] = copy({ session_id: session, state: kept, schema_version });
    this.write();
  }
}
