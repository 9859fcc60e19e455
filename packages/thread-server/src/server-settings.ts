import type { WhenBusy } from "@harnesskit/protocol/threads";
import type { Resolved } from "@harnesskit/wire";
import {
  type Clock,
  type CreateId,
  callSafely,
  checkNumber,
  defaultWireLimits,
  defineLimits,
  defineOptions,
  InvalidArgumentError,
  invalidParams,
  type LimitsOf,
  randomId,
  systemClock,
} from "@harnesskit/wire";
import type { Tool } from "@harnesskit/wire/tool";
import { checkTools } from "./check-tools.ts";
import { type ThreadFailureContext, warnOfFailure } from "./failures.ts";
import type { StartOf } from "./find-grant.ts";
import { askGate, type PromptGate, type ToolGate } from "./gates.ts";
import { createMemoryThreadStore } from "./memory-thread-store.ts";
import type { ThreadStore } from "./thread-store.ts";
import type { ObservedTurn, TurnObserver } from "./turn-observer.ts";
import type { AgentProfile, JudgedCall, TurnRunner } from "./turn-runner.ts";

/** The limits of a thread server, with their defaults. */
export const threadServerLimits = defineLimits({
  /** How long a cancelled turn may take to stop before it ends without its runner. */
  cancelTimeoutMs: 5000,
  /** Characters of completed items that a turn receives as its history. */
  maxHistoryLength: 1_000_000,
  /** Characters of a message that its item keeps. As JSON they must fit in a message of the channels. */
  maxMessageLength: 524_288,
  /** Characters of output that a tool call's item keeps, as JSON. */
  maxOutputLength: 262_144,
  /** Characters of each stream of a tool that its item keeps. */
  maxLogLength: 262_144,
  /** Characters of an output or a message that are kept in a file when its item cannot hold them. */
  maxArtifactLength: 67_108_864,
  /** Prompts of one thread that wait for the end of its active turn; one more is refused. */
  maxQueuedTurns: 32,
  /** How often in a row an interrupted turn goes on without getting further, before it ends with `interrupted`. */
  maxTurnAttempts: 5,
  /** How long one `thread.search` goes on to the next thread or message; the rest comes with its `nextCursor`. */
  searchTimeoutMs: 2000,
  /** Threads that are held open at the same time beside those with an active turn. */
  maxOpenThreads: 256,
  /** How long an unused thread is held for writing: no turn, no request, no subscriber. Then another server may write it. */
  idleTimeoutMs: 60_000,
  /** How long a request waits for another server to give a thread back in which nothing runs; then it is refused. */
  handOverMs: 5000,
  /** How often a thread that clients hear is tried, while another server holds it: it may have died. */
  takeOverAfterMs: 5000,
  /** Bytes of the log's end that are read when a thread is opened. */
  maxOpenBytes: 4 * 1024 * 1024,
  /** Characters that wait for a slow client; beyond that it is served from the log. */
  maxOutboxLength: 1_048_576,
  /**
   * Bytes of the events or threads in one answer of `thread.get` or `thread.list`. Must leave room for an envelope below the
   * message limit of the channels.
   */
  maxPageBytes: defaultWireLimits.maxFrameBytes - 65_536,
});

export type ThreadServerLimits = LimitsOf<typeof threadServerLimits>;

/** The tools that there are now; each turn asks once, before the agent begins. */
export type ToolSource = (options: { readonly signal: AbortSignal }) => Promise<readonly Tool[]>;

export interface ThreadServerOptions {
  /** The agent. */
  readonly runner: TurnRunner;
  /** @default a store in memory */
  readonly store?: ThreadStore | undefined;
  /** What the agent may call. Where a source rejects, the turn fails. @default none */
  readonly tools?: readonly Tool[] | ToolSource | undefined;
  /** Judges tool calls before they run. @default {@link askGate} */
  readonly gate?: ToolGate | undefined;
  /** Judges prompts before the agent receives them. @default the agent receives all of them */
  readonly promptGate?: PromptGate | undefined;
  /** Observes what turns do. @default none */
  readonly observer?: TurnObserver | undefined;
  /** The profiles that `turn.start` may name; the first is the default. @default one named `code` */
  readonly agents?: readonly [AgentProfile, ...AgentProfile[]] | undefined;
  /**
   * Turns a thread's `directory`, or undefined, into an absolute path inside the server's own. Throws a
   * `ProtocolError` -32602 for one outside. @default no thread has a directory: it is empty, and no other is accepted
   */
  readonly resolveDirectory?: ((directory: string | undefined) => string | Promise<string>) | undefined;
  /** Limits to override. @default each as {@link ThreadServerLimits} states */
  readonly limits?: Partial<ThreadServerLimits> | undefined;
  /** What happens to a prompt that comes while a turn is active and says nothing itself. @default "reject" */
  readonly whenBusy?: WhenBusy | undefined;
  /**
   * When prompts and turns go on that a server left which ended: when the first client connects (`ThreadServer.resume`), or
   * each when its thread is used. `never`: all is left as it is, for a server without an agent that renames, archives, forks and
   * searches. @default "connect"
   */
  readonly resumeQueues?: "connect" | "use" | "never" | undefined;
  /**
   * What becomes of a turn whose server died, was closed, or lost the thread in the middle of it. `report`: it ends with `turn.error`
   * `interrupted`. `retry`: it goes on from its last recorded step, in this process or another one that opens the thread (see
   * `ThreadServer.resume`). Calls whose outcome is recorded do not run again; one that may have run is `unknown` to the agent, unless its
   * tool only reads or is `idempotent`. A turn that does not get further in `maxTurnAttempts` ends as with `report`. @default "report"
   */
  readonly interruptedTurns?: "report" | "retry" | undefined;
  /**
   * What stands for a call and for those like it, for `always` answers that hold for these, too (`match: "start"`). A function of the call alone.
   * @default nothing: each such answer is refused
   */
  readonly startOf?: StartOf | undefined;
  /** How long an approval can be given; it goes on over a restart. @default no limit */
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * What happens to a question while no client is connected that could answer it: it waits, also over a restart; the call is refused at
   * once, or when no client has connected by then. @default "wait"
   */
  readonly unattended?: "wait" | "deny" | { readonly timeoutMs: number } | undefined;
  /**
   * Receives the failures that reach no client: of the runner, a tool, the store, a connection; of a model, the `TurnError` with its
   * `cause`. What it throws is ignored. @default `process.emitWarning`, but for what clients send wrong
   */
  readonly onError?: ((error: unknown, context: ThreadFailureContext) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** @default 128 random bits */
  readonly createId?: CreateId | undefined;
}

/** `end` of the gates of `createThreadGates`, which are spread into the options. */
type WithGates = ThreadServerOptions & { readonly end?: unknown };

const checkOptions = defineOptions<WithGates>("createThreadServer", {
  end: false,
  runner: true,
  store: false,
  tools: false,
  gate: false,
  promptGate: false,
  observer: false,
  agents: false,
  resolveDirectory: false,
  limits: false,
  whenBusy: { reject: true, queue: true, interrupt: true },
  resumeQueues: { connect: true, use: true, never: true },
  interruptedTurns: { report: true, retry: true },
  startOf: false,
  approvalTimeoutMs: false,
  unattended: false,
  onError: false,
  clock: false,
  createId: false,
});

/** The options with their defaults, and what the parts of a server share. */
export interface ServerSettings
  extends Resolved<
    Omit<
      ThreadServerOptions,
      "approvalTimeoutMs" | "promptGate" | "limits" | "observer" | "onError" | "tools"
    >
  > {
  readonly tools: ToolSource;
  readonly limits: ThreadServerLimits;
  readonly approvalTimeoutMs: number | undefined;
  readonly promptGate: PromptGate | undefined;
  readonly onError: (error: unknown, context?: ThreadFailureContext) => void;
  /** Calls the observer, and reports what it throws. */
  readonly observe: <E extends keyof TurnObserver>(
    event: E,
    ...args: Parameters<NonNullable<TurnObserver[E]>>
  ) => void;
}

/** The profile of a server that was given none. */
export const defaultAgent: AgentProfile = {
  name: "code",
  systemPrompt:
    "You are a coding agent. You work in one directory with the tools you are given. Look before you change, " +
    "say briefly what you do, and report honestly what failed or was refused.",
};

const noDirectory = (directory = ""): string => {
  if (directory !== "") throw invalidParams("This server has no directories: leave `directory` out");
  return directory;
};

const toToolSource = (tools: readonly Tool[] | ToolSource): ToolSource =>
  typeof tools === "function" ? tools : async () => tools;

/** Throws for what lacks the function that it is there for: each turn or call would fail, and only then. */
const demand = <Method extends string, Given extends { readonly [Name in Method]: unknown } | undefined>(
  name: string,
  given: Given,
  method: Method,
): Given => {
  if (given === undefined || typeof given?.[method] === "function") return given;
  throw new InvalidArgumentError(`createThreadServer: ${name} must be an object with a function "${method}"`);
};

const contextOf = (of: ObservedTurn | JudgedCall): ThreadFailureContext => {
  const { threadId, turnId } = of;
  return { threadId, turnId, tool: "tool" in of ? of.tool.name : undefined };
};

/** Throws `invalid_argument` for invalid options. */
export const resolveSettings = (given: ThreadServerOptions): ServerSettings => {
  const options = checkOptions(given);
  const { onError: report = warnOfFailure } = options;
  const onError: ServerSettings["onError"] = (error, context = {}) =>
    callSafely(() => report(error, context));
  return {
    runner: demand("runner", options.runner, "run"),
    store: options.store ?? createMemoryThreadStore(),
    tools: toToolSource(checkTools(options.tools ?? [])),
    gate: demand("gate", options.gate, "before") ?? askGate,
    promptGate: demand("promptGate", options.promptGate, "before"),
    observe: (event, ...args) =>
      callSafely(
        () => (options.observer?.[event] as ((...all: typeof args) => void) | undefined)?.(...args),
        (error) => onError(error, contextOf(args[0])),
      ),
    agents: options.agents ?? [defaultAgent],
    resolveDirectory: options.resolveDirectory ?? noDirectory,
    limits: threadServerLimits.resolve(options.limits),
    whenBusy: options.whenBusy ?? "reject",
    resumeQueues: options.resumeQueues ?? "connect",
    interruptedTurns: options.interruptedTurns ?? "report",
    approvalTimeoutMs:
      options.approvalTimeoutMs === undefined
        ? undefined
        : checkNumber("approvalTimeoutMs", options.approvalTimeoutMs, { max: Number.MAX_SAFE_INTEGER }),
    unattended: options.unattended ?? "wait",
    startOf: options.startOf ?? (() => undefined),
    onError,
    clock: options.clock ?? systemClock,
    createId: options.createId ?? randomId,
  };
};
