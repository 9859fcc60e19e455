import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import { defined, jsonProblem, maxMessageDepth } from "@harnesskit/wire/json";
import { errorCategory, GraphError, type GraphErrorCode, hasCode, saveError } from "../errors.ts";
import { plainCopy } from "../state/stored-json.ts";
import type { RunAppend, RunEntry, RunFailure, RunRecord, StoredRun } from "../stores/run-store.ts";

/** The place of a node, a subgraph or an effect in its run. */
export interface RunPlace {
  readonly key: string;
  readonly namespace: readonly string[];
}

/** How a node has ended in an earlier process. */
export type Recorded = Extract<RunEntry, { readonly kind: "completed" | "failed" }>;

export interface JournalOptions {
  /** The id that the run began with. */
  readonly runId: string;
  readonly clock: Clock;
  /** What an earlier process has recorded. */
  readonly stored?: StoredRun | undefined;
  /** Of a run that begins: it is stored with its first entry. */
  readonly record?: RunRecord | undefined;
  /** What the caller knows of ambiguous places. */
  readonly resolved?: readonly RunEntry[] | undefined;
  /** Stores entries, and the record of a run that begins. */
  readonly write: (run: RunAppend) => Promise<unknown>;
}

/** A value as JSON. Throws `run_persistence_failed`. */
const toJournalJson = (value: unknown, name: string, namespace: readonly string[]): JsonValue => {
  const given =
    typeof value === "object" && value !== null && !Array.isArray(value) ? defined(value) : (value ?? null);
  const problem = jsonProblem(given, { name, maxDepth: maxMessageDepth });
  if (problem === undefined) return plainCopy<JsonValue>(given);
  const message = `durability "node" records JSON: ${problem.message}`;
  throw new GraphError("run_persistence_failed", message, { namespace });
};

/** The error of a node that failed in an earlier process, with its category and without what it held. */
export const fromFailure = (
  { code, message, category }: RunFailure,
  namespace: readonly string[],
): GraphError => {
  const cause =
    category === null
      ? undefined
      : Object.assign(new GraphError(code as GraphErrorCode, message), { category });
  return new GraphError(code as GraphErrorCode, message, { namespace, nodeName: namespace.at(-1), cause });
};

/**
 * What has happened in one run, in the order in which it is stored. What a node or an effect is about to do is stored before it
 * does it; that it has ended is stored at once, together with what comes next, and at the latest before that begins.
 */
export class Journal {
  readonly runId: string;
  /** What an earlier process has recorded. */
  readonly stored: StoredRun | undefined;
  readonly #options: JournalOptions;
  readonly #ended = new Map<string, Recorded>();
  readonly #effects = new Map<string, { readonly result: JsonValue } | "started">();
  /** Nodes that are not idempotent and run now. */
  readonly #open = new Set<string>();
  /** Whether the end of one of them is not stored yet. */
  #isUrgent = false;
  #record: RunRecord | undefined;
  #count: number;
  #buffer: RunEntry[];
  #writing: Promise<void> | undefined;
  #failure: GraphError | undefined;
  #isOver = false;
  #isStored: boolean;
  #stopTimer: (() => void) | undefined;

  constructor(options: JournalOptions) {
    const { runId, stored, record, resolved = [] } = options;
    this.#options = options;
    this.runId = runId;
    this.stored = stored;
    this.#record = record;
    this.#isStored = stored !== undefined;
    this.#count = stored?.entries.length ?? 0;
    this.#buffer = [...resolved];
    for (const entry of [...(stored?.entries ?? []), ...resolved]) {
      if (entry.kind === "completed" || entry.kind === "failed") this.#ended.set(entry.key, entry);
      if (entry.kind === "effect_started") this.#effects.set(entry.key, "started");
      if (entry.kind === "effect_done") this.#effects.set(entry.key, { result: entry.result });
      if (entry.kind === "effect_failed") this.#effects.delete(entry.key);
    }
  }

  /** How a node has ended already; undefined if it has not. */
  recall(key: string): Recorded | undefined {
    return this.#ended.get(key);
  }

  /** Settles when it is stored that a node may begin. */
  async starting({ key, namespace }: RunPlace, isIdempotent: boolean): Promise<void> {
    if (!isIdempotent) {
      this.#open.add(key);
      this.#add({ kind: "started", key, namespace });
      await this.flush();
    } else if (this.#isUrgent || this.#record !== undefined) await this.flush();
    else if (this.#failure !== undefined) throw this.#failure;
  }

  /** Throws `run_persistence_failed` for an update that is not JSON. */
  completed({ key, namespace }: RunPlace, step: number | null, nextStep: number, update: unknown): void {
    const json = toJournalJson(update, "update", namespace);
    // Until this is stored, a crash makes the node ambiguous.
    if (this.#open.delete(key)) this.#isUrgent = true;
    this.#addLater({ kind: "completed", key, namespace, step, next_step: nextStep, update: json });
  }

  failed({ key, namespace }: RunPlace, error: GraphError): void {
    const { code, message } = error;
    const failure = { code, message, category: errorCategory(error) };
    this.#addLater({ kind: "failed", key, namespace, error: failure });
  }

  /** Saves the session with an entry about it, in one write. Rejects as `write` does. */
  async saving(
    lengths: Readonly<Record<string, number>>,
    write: (run: RunAppend) => Promise<void>,
  ): Promise<void> {
    do await this.flush();
    while (this.#writing !== undefined);
    const saved = { kind: "saved", lengths } as const;
    const save = write({
      kind: "append",
      runId: this.runId,
      expectedEntries: this.#count,
      entries: [saved],
    }).then(() => {
      this.#count++;
    });
    this.#writing = save
      .catch(() => {})
      .then(() => {
        this.#writing = undefined;
      });
    await save;
  }

  /** Calls an effect, or returns the recorded result of an earlier call. Rejects with `node_ambiguous` as `NodeContext.effect` says. */
  async effect(
    { key, namespace }: RunPlace,
    name: string,
    isIdempotent: boolean,
    call: () => unknown,
  ): Promise<unknown> {
    const known = this.#effects.get(key);
    if (known !== undefined && known !== "started") return known.result;
    if (known === "started" && !isIdempotent) {
      const message = `the effect ${name} of ${namespace.join(" › ")} may have happened before a crash: its end is not recorded`;
      throw new GraphError("node_ambiguous", message, {
        namespace,
        nodeName: namespace.at(-1),
        data: { effect: name, run_id: this.runId, places: [{ key, namespace, effect: name }] },
      });
    }
    if (known === undefined) {
      this.#effects.set(key, "started");
      this.#add({ kind: "effect_started", key, namespace });
      await this.flush();
    }
    let result: unknown;
    try {
      result = await call();
    } catch (error) {
      this.#effects.delete(key);
      this.#addLater({ kind: "effect_failed", key });
      throw error;
    }
    const json = toJournalJson(result, `result of the effect ${name}`, namespace);
    this.#effects.set(key, { result: json });
    this.#add({ kind: "effect_done", key, result: json });
    await this.flush();
    return json;
  }

  #add(entry: RunEntry): void {
    if (!this.#isOver) this.#buffer.push(entry);
  }

  /** What has ended is usually stored with what begins next, and otherwise when the event loop is free. */
  #addLater(entry: RunEntry): void {
    this.#add(entry);
    this.#stopTimer ??= this.#options.clock.after(0, () => void this.flush().catch(() => {}), true);
  }

  /** Settles when all entries are stored; rejects for good once a write has failed. */
  async flush(): Promise<void> {
    while (this.#failure === undefined) {
      const isDone = this.#isOver || (this.#buffer.length === 0 && this.#record === undefined);
      if (isDone && this.#writing === undefined) return;
      this.#writing ??= this.#writeAll();
      await this.#writing;
    }
    throw this.#failure;
  }

  async #writeAll(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#isUrgent = false;
    const { runId } = this;
    const entries = this.#buffer;
    const record = this.#record;
    this.#buffer = [];
    try {
      await this.#options.write({ kind: "append", runId, record, expectedEntries: this.#count, entries });
      this.#record = undefined;
      this.#isStored = true;
      this.#count += entries.length;
    } catch (error) {
      this.#failure = saveError(error, "run_persistence_failed");
    } finally {
      this.#writing = undefined;
    }
  }

  /** Ends the recording: the run ends in another write. Settles when none is under way. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#stopTimer?.();
    await this.#writing;
  }

  /** Whether the storage failed, or another process has taken the run over: then the run may go on. What no storage takes ends it. */
  get isInterrupted(): boolean {
    const { cause } = this.#failure ?? {};
    return (
      this.#failure !== undefined && !hasCode(cause, "store_full") && !hasCode(cause, "invalid_argument")
    );
  }

  /** Whether something was stored, so that the end must be too. */
  get isStored(): boolean {
    return this.#isStored;
  }
}
