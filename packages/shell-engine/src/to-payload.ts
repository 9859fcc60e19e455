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
  type ShellResponse,
  type ShellResponsePayload,
} from "@harnesskit/protocol/openharness";
import { digest, writeMessage } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import { checkDirectives } from "./check-directives.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { EngineRequest } from "./engine-request.ts";
import { HandlerFault } from "./failure.ts";
import type { Route } from "./routes.ts";
import type { ContinueWith, Conversation, ShellReply } from "./shell-call.ts";
import { toResponse } from "./to-response.ts";

/** The content of a response, as it is remembered. */
export interface Payload {
  readonly value: ShellResponsePayload;
  /** The capabilities that the directives need and the shell did not declare; they stand beside the content. */
  readonly denials: readonly CapabilityDenial[];
  /** The whole response to the request that was handled, where it was written. */
  readonly response?: ShellResponse | undefined;
}

/** What a handler was asked. */
export interface Handled<Context> {
  readonly request: EngineRequest<Context>;
  readonly conversation: Conversation;
  readonly route: Route<Context>;
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
  const { runId, data } = given;
  if (runId !== undefined && (typeof runId !== "string" || runId === "" || runId.length > maxIdLength)) {
    throw invalid(`runId must be a string of 1 to ${maxIdLength} characters`);
  }
  const problem = data === undefined ? undefined : jsonProblem(data, { name: "continueWith.data" });
  if (problem) throw invalid(problem.message);
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
  { request: { owner, run }, conversation, route }: Handled<Context>,
  { limits, continuations, createId }: EngineParts<Context>,
): Promise<Continuation> => {
  assertContinueWith(next, limits.maxIdLength);
  const { step, data } = next;
  if (step !== undefined && !Object.hasOwn(route.steps ?? {}, step)) {
    throw new HandlerFault(
      "unknown_step",
      "a SOP continues with one of its own steps, and only SOPs have steps",
    );
  }
  const question = questionIn(directives);
  const continuation = await continuations.issue(owner, {
    session: conversation.sessionId,
    conversation: conversation.conversationId,
    run: next.runId ?? run?.id ?? createId("run"),
    sop: route.sop,
    route: route.key,
    step,
    digest: question && (await digest(approvalSubject(question))),
    data,
  });
  if (question) question.payload = { ...question.payload, continuation: { ...continuation } as never };
  return continuation;
};

/** How the conversation continues; undefined where the reply says nothing and the shell named its session. */
const continuationOf = <Context>(
  directives: ActionDirective[],
  { continuation, continueWith }: ShellReply,
  handled: Handled<Context>,
  engine: EngineParts<Context>,
): Continuation | Promise<Continuation> | undefined => {
  if (continuation !== undefined) {
    const own = continueWith === undefined ? ContinuationSchema.safeParse(continuation).data : undefined;
    if (own) return own;
    throw invalid(
      "continuation must be an object with run_id, sop_id, continuation_token, without continueWith",
    );
  }
  if (continueWith) return continueRun(directives, continueWith, handled, engine);
  const { request, conversation: at } = handled;
  if (request.asked.session_id !== undefined) return undefined;
  const { sessionId: session, conversationId: conversation } = at;
  return engine.continuations.issue(request.owner, { session, conversation });
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
export const toPayload = async <Context>(
  returned: unknown,
  handled: Handled<Context>,
  engine: EngineParts<Context>,
): Promise<Payload> => {
  const { request, conversation } = handled;
  const { limits, registry, failures, clock } = engine;
  const reply = asShellReply(returned);
  const given = reply.directives ?? [];
  if (!Array.isArray(given)) throw invalid("directives must be a list");
  if (given.length > limits.maxDirectives) {
    const message = `a response has ${limits.maxDirectives} directives at most`;
    throw new HandlerFault("too_many_directives", message);
  }
  const { directives, denials, faults } = checkDirectives(given, registry, request.negotiated.held);
  for (const fault of faults) failures.onError(fault);
  const extensions = assertExtensions(reply.extensions);
  const made = continuationOf(directives, reply, handled, engine);
  const continuation = made && (await made);
  const value: ShellResponsePayload = { status: "success", action_directives: directives };
  if (continuation) {
    const { sessionId: session_id, conversationId: conversation_id } = conversation;
    const own: ResponseExtension = { session_id, conversation_id, continuation };
    value.extensions = { ...extensions, [HARNESSKIT_EXTENSION]: own as never };
  } else if (extensions) value.extensions = extensions;
  value.engine_latency_ms = clock.elapsedMs() - request.startedAt;
  const response = toResponse({ value, denials }, request, request.negotiated);
  const isShort = writeMessage(response).length <= limits.maxResponseLength;
  if (isShort || JSON.stringify(value).length <= limits.maxResponseLength)
    return { value, denials, response };
  const message = `a response has ${limits.maxResponseLength} characters at most`;
  throw new HandlerFault("response_too_large", message);
};
