import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type {
  ActionDirective,
  AttachmentRef,
  Capabilities,
  Continuation,
  EnvironmentState,
  Extensions,
  ShellApprovalAnswer,
  ShellIdentity,
  TaskHint,
} from "@harnesskit/protocol/openharness";
import { jsonProblem } from "@harnesskit/wire/json";
import type { EngineRequest } from "./engine-request.ts";
import { type WriteLog, writeLog } from "./shell-log.ts";
import { noStream, type ShellStream } from "./streaming/shell-stream.ts";

export type MaybePromise<T> = T | Promise<T>;

/** Where a request belongs. */
export interface Conversation {
  /** One string for the credential, the session and the thread of it. */
  readonly key: string;
  readonly sessionId: string;
  readonly conversationId: string | undefined;
}

/** The run that a continuation resumes. */
export interface ResumedRun {
  readonly id: string;
  /** What the handler that continues left in `continueWith.data`. */
  readonly data: JsonValue | undefined;
  /** The step that comes now; undefined outside SOPs, and where none was named. */
  readonly step: string | undefined;
}

const eventPattern = /^[a-z0-9_.:-]{1,64}$/;

/** One request, as a handler gets it, without `auth`. */
export class ShellCall<Context = unknown> {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  /** The header `traceparent`, where the transport's context shows one that is well-formed. */
  readonly traceparent: string | undefined;
  readonly conversation: Conversation;
  readonly intent: string | undefined;
  readonly task: TaskHint | undefined;
  readonly shell: ShellIdentity | undefined;
  /** What the shell sent; its `privacy_tier` binds handlers as it binds the engine. */
  readonly environment: EnvironmentState | undefined;
  readonly attachments: readonly AttachmentRef[];
  /** `context.extensions`. */
  readonly extensions: Extensions | undefined;
  /** The features that the shell has and the engine offers. */
  readonly capabilities: ReadonlySet<string>;
  /**
   * All that the shell declared, with its values (boolean, string or object): vendor keys, and features that the engine
   * does not offer, too. `hasCapability` of the protocol reads one. Empty where the shell declared nothing.
   */
  readonly shellCapabilities: Capabilities;
  /** As the shell sent it. One in the engine's form was checked, and sets `run`; any other is `handlers.continuation`'s to check. */
  readonly continuation: Continuation | undefined;
  /** Set where a continuation resumes a run. */
  readonly run: ResumedRun | undefined;
  /**
   * What the user said to the `request_approval` that the continuation came with. Undefined if the user said something else. For
   * `handlers.continuation` the digest is not checked: compare it with that of `approvalSubject` of what you asked.
   */
  readonly approval: ShellApprovalAnswer | undefined;
  /** The sender, as `authenticate` or the transport said. */
  readonly principal: unknown;
  /** What the transport knows. */
  readonly context: Context;
  /** When the engine stops waiting, in milliseconds since the epoch. */
  readonly dueAtMs: number;
  /** Previews of the response, for a shell that agrees on `openharness.streaming`. */
  readonly stream: ShellStream;
  readonly #request: EngineRequest<Context>;
  readonly #write: WriteLog | undefined;

  /** @internal */
  constructor(request: EngineRequest<Context>, conversation: Conversation, write: WriteLog | undefined) {
    const { asked } = request;
    this.requestId = request.requestId;
    this.correlationId = request.correlationId;
    this.traceparent = request.trace.traceparent;
    this.conversation = conversation;
    this.run = request.run;
    this.intent = asked.user_intent;
    this.task = asked.task_hint;
    this.shell = asked.shell;
    this.environment = asked.environment_state;
    this.attachments = asked.attachments ?? [];
    this.extensions = asked.extensions;
    this.capabilities = request.negotiated.held;
    this.shellCapabilities = request.request?.capabilities ?? {};
    this.continuation = asked.continuation;
    this.approval = request.extension?.approval;
    this.principal = request.principal;
    this.context = request.context;
    this.dueAtMs = request.dueAtMs;
    this.stream = request.stream ?? noStream;
    this.#request = request;
    this.#write = write;
  }

  /** Aborts at `dueAtMs`; when the shell cancels; and, for a request without a request_id, when the shell goes away. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /**
   * Writes a line to the engine's log, with the request's ids. `event` is of small letters, digits and `_.:-`. Details that are not
   * JSON are left out. Where the environment is secret the details are left out; else values of one that is not public are
   * taken out of them.
   */
  readonly log = (event: string, details?: JsonObject): void => {
    const isName = eventPattern.test(event) && this.#request.redact(event) === event;
    const isShown = details !== undefined && jsonProblem(details) === undefined;
    writeLog(this.#write, this.#request, {
      event: isName ? event : "handler",
      level: "info",
      details: isShown ? details : undefined,
    });
  };
}

/** How a run continues. */
export interface ContinueWith {
  /** The SOP's next step. @default none */
  readonly step?: string | undefined;
  /** A string, no longer than an id may be. @default the resumed run's id, or a new one */
  readonly runId?: string | undefined;
  /** Kept by the engine until the run is resumed. @default none */
  readonly data?: JsonValue | undefined;
}

/** What a handler returns, as an object. */
export interface ShellReply {
  /** @default none */
  readonly directives?: readonly ActionDirective[];
  /**
   * Makes a continuation: it stands in the response's extensions, and in the one `request_approval` among the directives
   * that has none. @default the run is over
   */
  readonly continueWith?: ContinueWith;
  /**
   * A continuation in a scheme of your own, in the place of `continueWith`: it stands in the response's extensions, and
   * comes back to `handlers.continuation`. @default none
   */
  readonly continuation?: Continuation;
  /** For the response's `extensions`, under keys of vendors (section 4); `dev.harnesskit` is the engine's. @default none */
  readonly extensions?: Extensions;
}

/** What answers requests. A list is a reply with these directives; undefined is a reply without directives. */
export type ShellHandler<Context = unknown> = (
  call: ShellCall<Context>,
) => MaybePromise<ShellReply | readonly ActionDirective[] | undefined>;

/** A standard operating procedure: named steps, each of which names the next one. */
export interface Sop<Context = unknown> {
  /** It begins with the first one; JavaScript puts names that are whole numbers before all others. */
  readonly steps: Readonly<Record<string, ShellHandler<Context>>>;
}
