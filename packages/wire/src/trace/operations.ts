import type { TraceContext } from "./trace-context.ts";

/** Prompts, inputs and outputs. A tracer drops it unless its user asked for content, and bounds it. */
export type TracedContent = unknown;

/** What an approval was asked about, and its answer. */
export interface TracedApproval {
  readonly tool: string;
  readonly approvalId: string;
  readonly conversationId?: string | undefined;
  readonly risk?: string | undefined;
  readonly rule?: string | undefined;
  /** `approved`, `rejected`, `expired`, `unattended`, `withdrawn`, … */
  readonly answer?: string | undefined;
  /** By a stored grant, and not by a human now. */
  readonly isByGrant?: boolean | undefined;
  readonly input?: TracedContent;
}

/** A decision of a gate or a harness about one action. */
export interface TracedDecision {
  /** `pre_action`, `pre_prompt`, or another type of event. */
  readonly eventType: string;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly tool?: string | undefined;
  /** `allow`, `block`, `modify`, `defer`, `escalate`; a gate's `ask`. */
  readonly decision?: string | undefined;
  /** The rule that decided. */
  readonly rule?: string | undefined;
  /** Why a refusal was made without a decision. */
  readonly code?: string | undefined;
  readonly input?: TracedContent;
}

/** A tool call, at one of its ends. */
export interface TracedCall {
  readonly tool: string;
  readonly callId: string;
  readonly status?: string | undefined;
  readonly code?: string | undefined;
  readonly input?: TracedContent;
  readonly output?: TracedContent;
}

/**
 * What roles report to a tracer, by the name of the operation. Details are in the roles' own words: what they are called in a trace
 * is the tracer's to decide.
 */
export interface Operations {
  /** A turn of a thread, at the client that started it. */
  readonly turnRequest: { readonly threadId: string; readonly agent?: string | undefined };
  /** A client answers an approval. */
  readonly answer: { readonly approvalId: string; readonly answer: string };
  /** The same turn, at its server. */
  readonly turn: {
    readonly threadId: string;
    readonly turnId: string;
    readonly agent: string;
    readonly isResumed: boolean;
    readonly status?: string | undefined;
    readonly code?: string | undefined;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly input?: TracedContent;
  };
  /** One call of a model. */
  readonly model: {
    readonly provider: string;
    readonly model: string;
    readonly conversationId?: string | undefined;
    readonly responseModel?: string | undefined;
    readonly responseId?: string | undefined;
    readonly finishReason?: string | undefined;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly cachedInputTokens?: number | undefined;
    readonly reasoningTokens?: number | undefined;
    readonly input?: TracedContent;
    readonly output?: TracedContent;
  };
  /** A tool runs for a model. */
  readonly tool: TracedCall & {
    readonly description?: string | undefined;
    readonly conversationId?: string | undefined;
  };
  /** A core's call of an agent's tool, at the core. */
  readonly call: TracedCall;
  /** The same at the agent. */
  readonly agentCall: TracedCall;
  /** A call of a tool of an MCP server, at the client. */
  readonly mcpCall: TracedCall & { readonly protocolVersion?: string | undefined };
  /** A gate judges a call or a prompt. */
  readonly gate: TracedDecision;
  /** An agent asks its harness. */
  readonly ask: TracedDecision;
  /** A harness decides. */
  readonly decide: TracedDecision;
  /** A hook of a coding agent, at the guard. */
  readonly hook: TracedDecision & { readonly host: string };
  /** A question to a human, from its asking to its answer. */
  readonly approval: TracedApproval;
  /** A turn of a conversation. */
  readonly chatTurn: {
    readonly sessionId: string | null;
    readonly path?: string | undefined;
    readonly outcome?: string | undefined;
    readonly category?: string | undefined;
    readonly signalId?: string | undefined;
    readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  };
  /** A run of a graph. */
  readonly invocation: {
    readonly invocationId: string;
    readonly correlationId: string;
    readonly sessionId: string | null;
    readonly entryNode: string;
    readonly outcome?: "completed" | "suspended" | undefined;
    readonly category?: string | undefined;
  };
  /** One attempt of a node of a graph. */
  readonly node: {
    readonly name: string;
    readonly namespace: readonly string[];
    readonly step: number;
    readonly attempt: number;
    readonly correlationId: string;
    readonly fanOutIndex?: number | undefined;
    readonly branchName?: string | undefined;
    readonly fanOut?:
      | { readonly item_count: number; readonly concurrency: number; readonly error_policy: string }
      | undefined;
    readonly branches?:
      | { readonly branch_names: readonly string[]; readonly error_policy: string }
      | undefined;
    readonly outcome?: "completed" | "suspended" | undefined;
    readonly category?: string | undefined;
    readonly signalId?: string | undefined;
    /** Of the suspension. */
    readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  };
  /** A request of a shell, with its retries and what it answers by itself, at the shell. */
  readonly shellRequest: TracedShellRequest;
  /** The same at the engine. */
  readonly engineRequest: TracedShellRequest;
}

export interface TracedShellRequest {
  readonly requestId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly status?: string | undefined;
  readonly code?: string | undefined;
  readonly actionTypes?: readonly string[] | undefined;
  readonly isReplay?: boolean | undefined;
  readonly input?: TracedContent;
}

export type OperationName = keyof Operations;

export interface StartOptions {
  /** What the operation belongs to. @default the active operation */
  readonly parent?: TraceContext | undefined;
  /** Other operations that led to this one, perhaps in other traces. */
  readonly links?: readonly (TraceContext | undefined)[] | undefined;
  /** Milliseconds since the epoch. @default now */
  readonly startedAtMs?: number | undefined;
}

/** An operation that was begun. */
export interface TracedOperation<K extends OperationName = OperationName> {
  /** What travels with messages of it; undefined where the trace is not propagated. */
  readonly context: TraceContext | undefined;
  /** Runs work, and all that it starts, as a part of the operation. */
  run<T>(work: () => T): T;
  /** Adds what became known. */
  set(details: Partial<Operations[K]>): void;
  /** Adds another operation that led to this one. */
  link(context: TraceContext | undefined): void;
  /**
   * Ends it; later calls do nothing. An error counts by its code: its message is content.
   *
   * @param endedAtMs milliseconds since the epoch; now, if it is left out
   */
  end(error?: unknown, endedAtMs?: number): void;
}

/** What observes operations. Its methods never throw. */
export interface Tracer {
  start<K extends OperationName>(
    operation: K,
    details: Operations[K],
    options?: StartOptions,
  ): TracedOperation<K>;
  /** The context of the operation that is active here. */
  active(): TraceContext | undefined;
  /** Runs work as a part of an operation of a peer. */
  within<T>(context: TraceContext, work: () => T): T;
}
