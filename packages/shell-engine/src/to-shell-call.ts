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

/** What a handler gets of a request. Its signal is made when it is first read. */
export const toShellCall = <Context>(parts: CallParts<Context>): ShellCall<Context> => {
  const { inbound, conversation, run, running, log } = parts;
  const { asked, subject, extension, request } = inbound;
  return {
    requestId: subject.requestId,
    correlationId: subject.correlationId,
    traceparent: subject.trace.traceparent,
    conversation,
    run,
    intent: asked.user_intent,
    task: asked.task_hint,
    shell: asked.shell,
    // The redaction and the log still need what the handler may take out.
    environment: asked.environment_state && { ...asked.environment_state },
    attachments: asked.attachments ?? [],
    extensions: asked.extensions,
    requestExtensions: request.request.extensions,
    capabilities: subject.negotiated.held,
    shellCapabilities: request.capabilities ?? {},
    continuation: asked.continuation,
    approval: extension?.approval,
    principal: inbound.principal,
    context: inbound.context,
    dueAtMs: running.dueAtMs,
    get signal() {
      return running.signal;
    },
    stream: new HandlerStream(running.stream),
    log: (event, details) => writeLine(log, subject, event, details),
  };
};
