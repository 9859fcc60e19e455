import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type {
  AttachmentRef,
  Capabilities,
  Continuation,
  EnvironmentState,
  Extensions,
  ShellApprovalAnswer,
  ShellContext,
  ShellIdentity,
  TaskHint,
} from "@harnesskit/protocol/openharness";
import { callSafely } from "@harnesskit/wire";
import { copyJson, maxMessageDepth } from "@harnesskit/wire/json";
import type { Admitted } from "./admission.ts";
import type { ReadRequest } from "./read-request.ts";
import type { RunningHandler } from "./running-handler.ts";
import type { Conversation, ResumedRun, ShellCall } from "./shell-call.ts";
import type { LogSubject, ShellLog } from "./shell-log.ts";
import { HandlerStream, type ShellStream } from "./streaming/handler-stream.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";

/** A request that was read and admitted. */
export interface Inbound<Context> extends ReadRequest, Admitted {
  /** `request.context`. */
  readonly asked: ShellContext;
  readonly context: Context;
  readonly held: ReadonlySet<string>;
  readonly subject: LogSubject;
  readonly startedAt: number;
  /** Set where the response can be a stream: takes the stream, or undefined where there are too many. */
  readonly onStream?: ((stream: ResponseStream | undefined) => void) | undefined;
}

interface OwnParts {
  readonly conversation: Conversation;
  readonly run: ResumedRun | undefined;
  readonly running: RunningHandler;
  readonly log: ShellLog;
}

/** A copy of a part of a request, which may nest as deep as the request. */
const copyOf = <T extends JsonValue>(part: unknown): T => copyJson<T>(part, { maxDepth: maxMessageDepth });

const eventPattern = /^[a-z0-9_.:-]{1,64}$/;

/** What a handler sees of a request. It gets copies of what the engine still uses; these, and the signal, are made when they are read. */
export class HandlerCall<Context> implements ShellCall<Context> {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly traceparent: string | undefined;
  readonly conversation: Conversation;
  readonly run: ResumedRun | undefined;
  readonly intent: string | undefined;
  readonly task: TaskHint | undefined;
  readonly shell: ShellIdentity | undefined;
  readonly attachments: readonly AttachmentRef[];
  readonly extensions: Extensions | undefined;
  readonly requestExtensions: Extensions | undefined;
  readonly continuation: Continuation | undefined;
  readonly approval: ShellApprovalAnswer | undefined;
  readonly principal: unknown;
  readonly context: Context;
  readonly dueAtMs: number;
  readonly log: ShellCall["log"];
  readonly stream: ShellStream;
  readonly #inbound: Inbound<Context>;
  readonly #running: RunningHandler;
  #environment: EnvironmentState | undefined;
  #capabilities: ReadonlySet<string> | undefined;
  #shellCapabilities: Capabilities | undefined;

  constructor(inbound: Inbound<Context>, { conversation, run, running, log }: OwnParts) {
    const { asked, subject, extension } = inbound;
    const { extensions } = inbound.request.request;
    this.requestId = subject.requestId;
    this.correlationId = subject.correlationId;
    this.traceparent = subject.trace.traceparent;
    this.conversation = conversation;
    this.run = run;
    this.intent = asked.user_intent;
    this.task = asked.task_hint;
    this.shell = asked.shell;
    this.attachments = asked.attachments ?? [];
    this.extensions = asked.extensions && copyOf(asked.extensions);
    this.requestExtensions = extensions && copyOf(extensions);
    this.continuation = asked.continuation;
    this.approval = extension?.approval;
    this.principal = inbound.principal;
    this.context = inbound.context;
    this.dueAtMs = running.dueAtMs;
    this.log = (event, details) => writeLine(log, subject, event, details);
    this.stream = new HandlerStream(running.stream);
    this.#inbound = inbound;
    this.#running = running;
  }

  get environment(): EnvironmentState | undefined {
    const { environment_state: state } = this.#inbound.asked;
    this.#environment ??= state && copyOf<EnvironmentState & JsonObject>(state);
    return this.#environment;
  }

  get capabilities(): ReadonlySet<string> {
    this.#capabilities ??= new Set(this.#inbound.held);
    return this.#capabilities;
  }

  get shellCapabilities(): Capabilities {
    this.#shellCapabilities ??= copyOf<Capabilities & JsonObject>(this.#inbound.request.capabilities ?? {});
    return this.#shellCapabilities;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }
}

/** Writes a handler's line. Details that are not JSON are left out. */
const writeLine = (log: ShellLog, subject: LogSubject, event: string, details?: JsonObject): void => {
  const isName = typeof event === "string" && eventPattern.test(event) && subject.redact(event) === event;
  const line = { event: isName ? event : "handler", level: "info" } as const;
  const write = () =>
    log.write(subject, { ...line, details: details ? copyJson<JsonObject>(details) : undefined });
  callSafely(write, () => log.write(subject, line));
};
