import {
  type ActionDirective,
  approvalSubject,
  type CapabilityDenial,
  type Continuation,
  ContinuationSchema,
  type Extensions,
  ExtensionsSchema,
  HARNESSKIT_EXTENSION,
  type ResponseExtension,
  type ShellResponsePayload,
} from "@harnesskit/protocol/openharness";
import { digest } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import { checkDirectives } from "./check-directives.ts";
import type { EngineParts } from "./engine-parts.ts";
import { HandlerFault } from "./failure.ts";
import type { Inbound } from "./inbound.ts";
import type { Route } from "./routes.ts";
import type { ContinueWith, Conversation, ResumedRun, ShellReply } from "./shell-call.ts";

/** The content of a response, as it is remembered. */
export interface Payload {
  readonly value: ShellResponsePayload;
  /** The capabilities that the directives need and the shell did not declare; they stand beside the content. */
  readonly denials: readonly CapabilityDenial[];
  /** Both as JSON, where that was written. */
  readonly text?: string;
}

/** What a reply becomes a payload with. */
export interface ReplyParts<Context> {
  readonly engine: EngineParts<Context>;
  readonly inbound: Inbound<Context>;
  readonly conversation: Conversation;
  readonly route: Route<Context>;
  /** The run that was resumed. */
  readonly run: ResumedRun | undefined;
}

const invalid = (message: string) => new HandlerFault("invalid_reply", message);

const asShellReply = (returned: unknown): ShellReply => {
  if (returned === undefined || returned === null) return {};
  if (Array.isArray(returned)) return { directives: returned };
  if (typeof returned === "object") return returned;
  throw invalid("a handler must return a reply, a list of directives, or nothing");
};

const assertContinueWith = (given: ContinueWith, maxIdLength: number): void => {
  if (typeof given !== "object") throw invalid("continueWith must be an object");
  const { runId, data, expiresInMs } = given;
  if (runId !== undefined && (typeof runId !== "string" || runId === "" || runId.length > maxIdLength)) {
    throw invalid(`runId must be a string of 1 to ${maxIdLength} characters`);
  }
  const problem = data === undefined ? undefined : jsonProblem(data, { name: "continueWith.data" });
  if (problem) throw invalid(problem.message);
  if (expiresInMs !== undefined && !(Number.isSafeInteger(expiresInMs) && expiresInMs > 0)) {
    throw invalid("expiresInMs must be a whole number of milliseconds above 0");
  }
};

/** The one question among the directives that a continuation belongs to. */
const questionIn = (directives: readonly ActionDirective[]): ActionDirective | undefined => {
  const [question, ...others] = directives.filter(
    ({ action_type, payload }) => action_type === "request_approval" && payload?.continuation === undefined,
  );
  if (others.length === 0) return question;
  throw new HandlerFault("several_approvals", "one continuation answers one request_approval");
};

/** Makes a continuation of the run, and puts it into the question that it belongs to. */
const continueRun = async <Context>(
  directives: ActionDirective[],
  next: ContinueWith,
  { engine: { limits, continuations, createId }, inbound, route, conversation, run }: ReplyParts<Context>,
): Promise<Continuation> => {
  assertContinueWith(next, limits.maxIdLength);
  const { step, data, expiresInMs = limits.continuationMs } = next;
  route.checkStep(step);
  const question = questionIn(directives);
  const continuation = await continuations.issue(inbound.owner, {
    session: conversation.sessionId,
    conversation: conversation.conversationId,
    run: next.runId ?? run?.id ?? createId("run"),
    sop: route.sop,
    route: route.key,
    step,
    digest: question && (await digest(approvalSubject(question))),
    data,
    expiresInMs,
  });
  if (question) question.payload = { ...question.payload, continuation: { ...continuation } as never };
  return continuation;
};

/** How the conversation continues; undefined where the reply says nothing and the shell named its session. */
const continuationOf = <Context>(
  directives: ActionDirective[],
  { continuation, continueWith }: ShellReply,
  parts: ReplyParts<Context>,
): Continuation | Promise<Continuation> | undefined => {
  if (continuation !== undefined) {
    if (continueWith !== undefined) {
      throw invalid("a reply has `continueWith` or `continuation`, not both");
    }
    const own = ContinuationSchema.safeParse(continuation).data;
    if (own) return own;
    throw invalid("continuation must be an object with run_id, sop_id, continuation_token");
  }
  if (continueWith) return continueRun(directives, continueWith, parts);
  const { engine, inbound } = parts;
  if (inbound.asked.session_id !== undefined) return undefined;
  const { sessionId: session, conversationId: conversation } = parts.conversation;
  const expiresInMs = engine.limits.continuationMs;
  return engine.continuations.issue(inbound.owner, { session, conversation, expiresInMs });
};

/** A handler's own extensions of the response. */
const assertExtensions = (given: unknown): Extensions | undefined => {
  if (given === undefined) return undefined;
  const kept = ExtensionsSchema.safeParse(given);
  if (!kept.success) throw invalid("extensions must be an object of JSON");
  if (!Object.hasOwn(kept.data, HARNESSKIT_EXTENSION)) return kept.data;
  throw invalid(`extensions: ${HARNESSKIT_EXTENSION} belongs to the engine`);
};

/** Turns what a handler returned into what is sent. Rejects with a `HandlerFault`. */
export const toPayload = async <Context>(returned: unknown, parts: ReplyParts<Context>): Promise<Payload> => {
  const { engine, inbound, conversation } = parts;
  const { limits, registry, failures, clock } = engine;
  const { negotiated, startedAt } = inbound.subject;
  const reply = asShellReply(returned);
  const given = reply.directives ?? [];
  if (!Array.isArray(given)) throw invalid("directives must be a list");
  if (given.length > limits.maxDirectives) {
    const message = `a response has ${limits.maxDirectives} directives at most`;
    throw new HandlerFault("too_many_directives", message);
  }
  const { directives, denials, faults } = checkDirectives(given, registry, negotiated.held);
  for (const fault of faults) failures.onError(fault);
  const extensions = assertExtensions(reply.extensions);
  const made = continuationOf(directives, reply, parts);
  const continuation = made && (await made);
  const value: ShellResponsePayload = { status: "success", action_directives: directives };
  if (continuation) {
    const { sessionId: session_id, conversationId: conversation_id } = conversation;
    const own: ResponseExtension = { session_id, conversation_id, continuation };
    value.extensions = { ...extensions, [HARNESSKIT_EXTENSION]: own as never };
  } else if (extensions) value.extensions = extensions;
  value.engine_latency_ms = clock.elapsedMs() - startedAt;
  const text = JSON.stringify({ value, denials });
  if (text.length <= limits.maxResponseLength) return { value, denials, text };
  const message = `a response has ${limits.maxResponseLength} characters at most`;
  throw new HandlerFault("response_too_large", message);
};
