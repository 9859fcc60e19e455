import type { JsonObject } from "@harnesskit/protocol/envelope";
import type {
  ApprovalAnswer,
  Capabilities,
  EnvironmentState,
  ShellContext,
} from "@harnesskit/protocol/openharness";
import { quietly } from "@harnesskit/wire";
import type { Admitted } from "./admission.ts";
import { copyJson } from "./copy-json.ts";
import type { ReadRequest } from "./read-request.ts";
import type { RunningCall } from "./running-call.ts";
import type { Conversation, ResumedRun, ShellCall } from "./shell-call.ts";
import type { LogSubject, ShellLog } from "./shell-log.ts";

/** A request that was read and admitted. */
export interface Inbound<Context> extends ReadRequest, Admitted {
  /** `request.context`. */
  readonly asked: ShellContext;
  readonly context: Context;
  readonly held: ReadonlySet<string>;
  readonly subject: LogSubject;
  readonly startedAt: number;
}

interface OwnParts {
  readonly conversation: Conversation;
  readonly run: ResumedRun | undefined;
  readonly approval: ApprovalAnswer | undefined;
  readonly running: RunningCall;
  readonly log: ShellLog;
}

const eventPattern = /^[a-z0-9_.:-]{1,64}$/;

/** What a handler sees of a request. A class, because an object with a getter of its own is slow to make. */
export class HandlerCall<Context> implements ShellCall<Context> {
  readonly requestId;
  readonly correlationId;
  readonly traceparent;
  readonly conversation;
  readonly intent;
  readonly task;
  readonly shell;
  readonly attachments;
  readonly extensions;
  readonly requestExtensions;
  readonly continuation;
  readonly run;
  readonly approval;
  readonly principal: unknown;
  readonly context: Context;
  readonly dueAtMs;
  readonly #running: RunningCall;
  readonly #state: EnvironmentState | undefined;
  readonly #held: ReadonlySet<string>;
  readonly #declared: Capabilities | undefined;
  #environment: EnvironmentState | undefined;
  #capabilities: ReadonlySet<string> | undefined;
  #shellCapabilities: Capabilities | undefined;
  readonly #log: ShellLog;
  readonly #subject: LogSubject;

  constructor({ request, asked, principal, context, held, subject }: Inbound<Context>, own: OwnParts) {
    this.requestId = subject.requestId;
    this.correlationId = subject.correlationId;
    this.traceparent = subject.trace.traceparent;
    this.conversation = own.conversation;
    this.intent = asked.user_intent;
    this.task = asked.task_hint;
    this.shell = asked.shell;
    this.#state = asked.environment_state;
    this.attachments = asked.attachments ?? [];
    this.extensions = asked.extensions;
    this.requestExtensions = request.request.extensions;
    this.#held = held;
    this.#declared = request.capabilities;
    this.continuation = asked.continuation;
    this.run = own.run;
    this.approval = own.approval;
    this.principal = principal;
    this.context = context;
    this.dueAtMs = own.running.dueAtMs;
    this.#running = own.running;
    this.#log = own.log;
    this.#subject = subject;
  }

  /** A copy: by the state as it came it is known what must not be shown. Made when it is asked for, as the next. */
  get environment(): EnvironmentState | undefined {
    this.#environment ??= copyJson(this.#state);
    return this.#environment;
  }

  get capabilities(): ReadonlySet<string> {
    this.#capabilities ??= new Set(this.#held);
    return this.#capabilities;
  }

  get shellCapabilities(): Capabilities {
    this.#shellCapabilities ??= copyJson(this.#declared) ?? {};
    return this.#shellCapabilities;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  /** Bound, so that handlers may take it out of the call. */
  readonly log = (event: string, details?: JsonObject): void => {
    const isName =
      typeof event === "string" && eventPattern.test(event) && this.#subject.redact(event) === event;
    const name = isName ? event : "handler";
    const line = { event: name, level: "info" } as const;
    const write = () =>
      this.#log.write(this.#subject, { ...line, ...(details && { details: copyJson(details) }) });
    // Details that lead back to themselves, or throw where they are read, are left out.
    quietly(write, () => this.#log.write(this.#subject, line));
  };
}
