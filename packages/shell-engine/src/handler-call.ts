import type { JsonObject } from "@harnesskit/protocol/envelope";
import { callSafely } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import type { Inbound, Subject } from "./inbound.ts";
import type { RunningHandler } from "./running-handler.ts";
import type { Conversation, ResumedRun, ShellCall } from "./shell-call.ts";
import type { ShellLog } from "./shell-log.ts";
import { HandlerStream } from "./streaming/handler-stream.ts";

interface CallParts<Context> {
  readonly inbound: Inbound<Context>;
  readonly conversation: Conversation;
  readonly run: ResumedRun | undefined;
  readonly running: RunningHandler;
  readonly log: ShellLog;
}

const eventPattern = /^[a-z0-9_.:-]{1,64}$/;

/** Writes a handler's line. Details that are not JSON are left out. */
const writeLine = (log: ShellLog, subject: Subject, event: string, details?: JsonObject): void => {
  const isName = typeof event === "string" && eventPattern.test(event) && subject.redact(event) === event;
  const line = { event: isName ? event : "handler", level: "info" } as const;
  const isShown = details !== undefined && jsonProblem(details) === undefined;
  callSafely(() => log.write(subject, isShown ? { ...line, details } : line));
};

/** What a handler gets of a request. A class: V8 keeps each literal that has a getter until the next full collection. */
export class HandlerCall<Context> implements ShellCall<Context> {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly traceparent: string | undefined;
  readonly conversation: Conversation;
  readonly run: ResumedRun | undefined;
  readonly intent: string | undefined;
  readonly task: ShellCall["task"];
  readonly shell: ShellCall["shell"];
  readonly environment: ShellCall["environment"];
  readonly attachments: ShellCall["attachments"];
  readonly extensions: ShellCall["extensions"];
  readonly requestExtensions: ShellCall["requestExtensions"];
  readonly capabilities: ReadonlySet<string>;
  readonly shellCapabilities: ShellCall["shellCapabilities"];
  readonly continuation: ShellCall["continuation"];
  readonly approval: ShellCall["approval"];
  readonly principal: unknown;
  readonly context: Context;
  readonly dueAtMs: number;
  readonly stream: ShellCall["stream"];
  readonly log: ShellCall["log"];
  readonly #running: RunningHandler;

  constructor({ inbound, conversation, run, running, log }: CallParts<Context>) {
    const { asked, subject, extension, request } = inbound;
    this.requestId = subject.requestId;
    this.correlationId = subject.correlationId;
    this.traceparent = subject.trace.traceparent;
    this.conversation = conversation;
    this.run = run;
    this.intent = asked.user_intent;
    this.task = asked.task_hint;
    this.shell = asked.shell;
    // The redaction and the log still need what the handler may take out.
    this.environment = asked.environment_state && { ...asked.environment_state };
    this.attachments = asked.attachments ?? [];
    this.extensions = asked.extensions;
    this.requestExtensions = request.request.extensions;
    this.capabilities = subject.negotiated.held;
    this.shellCapabilities = request.capabilities ?? {};
    this.continuation = asked.continuation;
    this.approval = extension?.approval;
    this.principal = inbound.principal;
    this.context = inbound.context;
    this.dueAtMs = running.dueAtMs;
    this.stream = new HandlerStream(running.stream);
    this.log = (event, details) => writeLine(log, subject, event, details);
    this.#running = running;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }
}
