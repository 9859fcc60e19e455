import type { EventBody } from "@harnesskit/protocol/threads";
import { type Clock, type CreateId, invalidParams, quietly, randomId, systemClock } from "@harnesskit/wire";
import { type AgentProfile, defaultAgent } from "./agent-profile.ts";
import type { UnattendedPolicy } from "./approval-policy.ts";
import type { FlushPolicy } from "./event-log.ts";
import { createMemoryThreadStore } from "./memory-thread-store.ts";
import type { PromptGate } from "./prompt-gate.ts";
import type { ThreadStore } from "./thread-store.ts";
import { askGate, type ToolGate } from "./tool-gate.ts";
import type { Tool } from "./tools.ts";
import type { TurnObserver } from "./turn-observer.ts";
import type { TurnRunner } from "./turn-runner.ts";

export interface ThreadServerOptions {
  /** The agent. */
  readonly runner: TurnRunner;
  /** @default a store in memory */
  readonly store?: ThreadStore;
  /** What the agent may call. @default none */
  readonly tools?: readonly Tool[];
  /** Who is asked before a tool runs. @default {@link askGate} */
  readonly gate?: ToolGate;
  /** Who is asked before the agent gets a prompt. @default nobody: it gets all of them */
  readonly promptGate?: PromptGate;
  /** Told what turns do. @default nobody is told */
  readonly observer?: TurnObserver;
  /** The profiles that `turn.start` may name; the first is the default. @default one named `code` */
  readonly agents?: readonly [AgentProfile, ...AgentProfile[]];
  /**
   * Turns a thread's `directory`, or undefined, into an absolute path inside the server's own. Throws a
   * `ProtocolError` -32602 for one outside. @default "/" for undefined, and no other is accepted
   */
  readonly resolveDirectory?: (directory: string | undefined) => string | Promise<string>;
  /** How long a cancelled turn may take to stop before it ends without its runner. @default 5000 */
  readonly cancelTimeoutMs?: number;
  /** Characters of completed items that a turn gets as its history. @default 1000000 */
  readonly maxHistoryLength?: number;
  /** Characters of output that a tool call's item keeps, as JSON. @default 262144 */
  readonly maxOutputLength?: number;
  /** Characters of each stream of a tool that its item keeps. @default 262144 */
  readonly maxLogLength?: number;
  /** Characters of an output that are kept in a file when its item cannot hold them. @default 67108864 */
  readonly maxArtifactLength?: number;
  /** Threads that are held open at the same time beside those with an active turn. @default 256 */
  readonly maxOpenThreads?: number;
  /**
   * How long a thread is kept for writing that nobody uses: no turn, no request, no subscriber. Then another server may
   * write it. @default 60000
   */
  readonly idleTimeoutMs?: number;
  /** Bytes of the log's end that are read when a thread is opened. @default 4194304 (4 MiB) */
  readonly maxOpenBytes?: number;
  /** When the log is flushed to disk. @default "boundaries" */
  readonly flush?: FlushPolicy;
  /** How long an approval can be given; it goes on over a restart. @default no limit */
  readonly approvalTimeoutMs?: number;
  /** What to do with a question while no client is there. @default "wait" */
  readonly unattended?: UnattendedPolicy;
  /** Characters that wait for a slow client; then it is served from the log. @default 1048576 */
  readonly maxOutboxLength?: number;
  /**
   * Told of what has no client to be told: failures of the runner, the store, a connection. What it throws is ignored.
   * @default nobody is told
   */
  readonly onError?: (error: unknown) => void;
  /** @default the real time */
  readonly clock?: Clock;
  /** @default 128 random bits */
  readonly createId?: CreateId;
}

/** The options with their defaults, and what the parts of a server share. */
export interface ServerSettings
  extends Required<Omit<ThreadServerOptions, "onError" | "approvalTimeoutMs" | "promptGate">> {
  readonly approvalTimeoutMs: number | undefined;
  readonly promptGate: PromptGate | undefined;
  readonly onError: (error: unknown) => void;
  /** Events that the store refused at a turn's end: clients hear of them, the log does not have them. */
  readonly onUnwritten: (bodies: readonly EventBody[], error: unknown) => void;
}

const onlyRoot = (directory: string | undefined): string => {
  if (directory !== undefined && directory !== "/") throw invalidParams("This server has no directories");
  return "/";
};

export const resolveSettings = (
  options: ThreadServerOptions,
  onUnwritten: ServerSettings["onUnwritten"],
): ServerSettings => ({
  runner: options.runner,
  store: options.store ?? createMemoryThreadStore(),
  tools: options.tools ?? [],
  gate: options.gate ?? askGate,
  promptGate: options.promptGate,
  observer: options.observer ?? {},
  agents: options.agents ?? [defaultAgent],
  resolveDirectory: options.resolveDirectory ?? onlyRoot,
  cancelTimeoutMs: options.cancelTimeoutMs ?? 5000,
  maxHistoryLength: options.maxHistoryLength ?? 1_000_000,
  maxOutputLength: options.maxOutputLength ?? 262_144,
  maxLogLength: options.maxLogLength ?? 262_144,
  maxArtifactLength: options.maxArtifactLength ?? 67_108_864,
  maxOpenThreads: options.maxOpenThreads ?? 256,
  idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
  maxOpenBytes: options.maxOpenBytes ?? 4 * 1024 * 1024,
  flush: options.flush ?? "boundaries",
  approvalTimeoutMs: options.approvalTimeoutMs,
  unattended: options.unattended ?? "wait",
  maxOutboxLength: options.maxOutboxLength ?? 1_048_576,
  onError: (error) => quietly(() => options.onError?.(error)),
  clock: options.clock ?? systemClock,
  createId: options.createId ?? randomId,
  onUnwritten,
});
