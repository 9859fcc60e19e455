import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { InputPart, Item, ModelRef, Summary, Thread, Turn, Usage } from "@harnesskit/protocol/threads";
import type { Tool } from "@harnesskit/wire/tool";

/** A named way for an agent to work; `turn.start` chooses one by its name. */
export interface AgentProfile {
  readonly name: string;
  /** Instructs the model about its task and its manners. */
  readonly systemPrompt: string;
  /** Names of the tools it may call. @default all */
  readonly tools?: readonly string[] | undefined;
  /** Model calls in one turn; then the turn ends with an error that says so. @default 50 */
  readonly maxSteps?: number | undefined;
}

/** What a client asked for, before anything of it is recorded. */
export interface TurnRequest {
  readonly input: readonly InputPart[];
  readonly model?: ModelRef | undefined;
  readonly agent: AgentProfile;
  /** `thread.compact` asked for it: {@link TurnRunner.compact} has the turn. */
  readonly compact?: true | undefined;
}

/** The agent behind a thread: what happens between a turn's start and its end. */
export interface TurnRunner {
  /**
   * Says whether the request can be served, before the turn begins. Throws a `ProtocolError`: -32602 for a model or an
   * input that is unknown.
   */
  accept?(request: TurnRequest): void | Promise<void>;
  /**
   * Runs the turn, from its beginning also when it is resumed. Resolves when it is done. A `TurnError` becomes `turn.error` with its sentence and code; anything
   * else becomes one without detail. After `turn.signal` aborts it should return soon: past the server's deadline the
   * turn ends without it, and whatever it still writes is refused with `turn_ended`.
   */
  run(turn: TurnContext): Promise<void>;
  /**
   * Makes a summary of the turns before this one, and records it by `recordSummary`. A server whose runner has it takes `thread.compact`.
   * @default the server does not take it
   */
  compact?(turn: TurnContext): Promise<void>;
}

/** A call that the model made. */
export interface ToolRequest {
  /**
   * Your id of the call, or the model's. In a resumed turn a call with the id, tool and input of one that has ended gets its
   * outcome. Left out: always a new call, under the id of its item, which runs again when a resumed turn makes it again. A
   * runner that starts over in a resumed turn must always give it.
   */
  readonly callId?: string | undefined;
  readonly tool: string;
  readonly input: unknown;
  /** Which of the turn's model calls made it, counted from 0. */
  readonly step?: number;
  /** Its place among several calls of its step, from 0. */
  readonly index?: number | undefined;
  /** The call is judged, and asked about, at once, and runs when this has settled: calls that it comes after. @default nothing */
  readonly after?: Promise<unknown> | undefined;
  /** Why `input` is not what the model wrote: the call then fails with it (`tool.invalid_input`), without a question. */
  readonly problem?: string;
  /** What the model's provider put beside the call; kept with its item. */
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** What a provider put beside what its model said, such as a signature, by the provider's name. It is replayed to that one. */
export type ProviderMetadata = Record<string, JsonObject>;

/** What a request to the model brought. */
export interface RecordedStep {
  /** Which of the turn's requests, counted from 0. */
  readonly step: number;
  /** The calls that it asked for, each with an id that no other one of the step has; none where the turn is done. */
  readonly calls: readonly ToolRequest[];
  readonly usage?: Usage | undefined;
}

/** How a call ended. The message to the model depends on `status`. */
export interface ToolOutcome {
  readonly status: "succeeded" | "failed" | "rejected" | "blocked" | "cancelled" | "unknown";
  readonly output?: JsonValue | undefined;
  /** The output with the images and files that `output` only names, for the model; left out where it has none. */
  readonly modelOutput?: JsonValue;
  /** Why it did not succeed: a sentence that is safe to show. */
  readonly error?: string;
  /** The string code of the failure. */
  readonly code?: string;
}

/** A message that is being written. */
export interface MessageWriter {
  append(delta: string): void;
  /** Completes the item with everything appended, and what the provider put beside it. Settles when it is stored. */
  complete(providerMetadata?: ProviderMetadata): Promise<void>;
}

export interface ArtifactInput {
  readonly kind: string;
  readonly path?: string;
  readonly uri?: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256?: string;
}

/** Everything that a runner may do in its turn. */
export interface TurnContext extends TurnRequest {
  readonly thread: Thread;
  readonly turn: Turn;
  /**
   * True when the turn goes on after its server ended. What it did before is in `history` and `steps`. A
   * runner that starts over makes the same calls again: `callTool` gives what is recorded of each. One that goes on behind
   * its `history` leaves the `callId` of a new call out where the model repeats one.
   */
  readonly isResumed: boolean;
  /** Aborts when the turn is cancelled or the server closes. */
  readonly signal: AbortSignal;
  /** The tools of the agent's profile. */
  readonly tools: readonly Tool[];
  /** The completed items of the thread, oldest first, this turn's user message last. Bounded: the oldest turns may be missing. */
  readonly history: readonly Item[];
  /** The requests to the model that were recorded in a turn that is resumed, in their order. */
  readonly steps: readonly RecordedStep[];
  /**
   * Records what a request to the model brought, before its calls are made, so that a resumed turn does not make it again. Does nothing
   * unless the server's `interruptedTurns` is "retry". Rejects as the store does.
   */
  recordStep(step: RecordedStep): Promise<void>;
  /** Notes that a request to the model is made again: what was said in this step so far is no longer part of the conversation. */
  repeatStep(step: number): Promise<void>;
  /**
   * Records a summary in the place of what the agent need not be given again: an `assistant_message` with `reasoning` and `summary`, which later turns find in their
   * `history`. Settles when it is stored. Rejects with `turn_ended`, and as the store does.
   */
  recordSummary(text: string, summary: Summary): Promise<void>;
  /** Reads outputs of the thread's calls again, for a runner that shows its model only a part of one. The server takes its calls whether the model is shown it or not. */
  readonly outputReader: Tool;
  /** The `id` by which that tool knows the output of a call of this turn. Undefined while the call runs. */
  outputReference(call: Pick<ToolRequest, "callId" | "step">): string | undefined;
  /** Begins an `assistant_message`. Throws `turn_ended`. */
  message(options?: { reasoning?: true | undefined; step?: number }): MessageWriter;
  /**
   * Has the prompt's gate judge a further request to the model, before the runner makes it: `step` counts from 1, `added` is what the model is
   * given since the request before. Rejects with a `TurnError` where it may not be made; let that end the turn.
   */
  judgeRequest(request: { readonly step: number; readonly added?: JsonValue }): Promise<void>;
  /**
   * Runs a tool as the gate and the user allow. What the tool, the gate or the user did is the outcome. In a resumed turn
   * each outcome that is recorded answers one call with the same id, tool and input, in their order, and nothing runs
   * again; one whose end is not recorded is `unknown`, or runs again where its tool only reads or is `idempotent`. Rejects when the turn is stopped while the user is asked, or has ended (`turn_ended`).
   */
  callTool(request: ToolRequest): Promise<ToolOutcome>;
  /** Records something that the turn made. */
  artifact(artifact: ArtifactInput): Promise<void>;
  /** Adds to what the turn has used; reported with the turn's end. */
  addUsage(usage: Usage): void;
}

/** What a tool call is known by to a gate. */
export interface JudgedCall {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly directory: string;
  readonly tool: Tool;
  /** Normalised: exactly what will run. */
  readonly input: JsonObject;
  readonly preview?: string;
  /** Binds an answer to the tool and this input. */
  readonly digest: string;
}
