import {
  type ActionDirective,
  type ActionRegistry,
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
import { type CheckedDirectives, checkDirectives } from "./check-directives.ts";
import type { Continuations } from "./continuations.ts";
import { HandlerFault, handlerJson } from "./failure.ts";
import type { ShellEngineLimits } from "./limits.ts";
import type { Route } from "./routes.ts";
import type { ContinueWith, Conversation, ShellReply } from "./shell-call.ts";

/** The content of a response, as it is remembered. */
export interface Payload {
  readonly value: ShellResponsePayload;
  /** The capabilities that the directives need and the shell did not declare; they stand beside the content. */
  readonly denials: readonly CapabilityDenial[];
  /** Both as JSON, where that was written. */
  readonly text?: string;
}

/** What a reply is finished with. */
export interface ReplyParts<Context> {
  readonly registry: ActionRegistry;
  readonly held: ReadonlySet<string>;
  readonly limits: ShellEngineLimits;
  readonly continuations: Continuations;
  readonly conversation: Conversation;
  readonly owner: string;
  readonly route: Route<Context>;
  /** The run's id, created if the request has no id. */
  readonly runId: () => string;
  /** Whether the shell named no session. */
  readonly isOwnSession: boolean;
  /** Milliseconds since the request arrived. */
  readonly elapsedMs: () => number;
  /** Reports a directive that was not valid. */
  readonly onFault: (fault: HandlerFault) => void;
}

const asShellReply = (returned: unknown): ShellReply => {
  if (returned === undefined || returned === null) return {};
  if (Array.isArray(returned)) return { directives: returned };
  if (typeof returned === "object") return returned;
  throw new HandlerFault("invalid_reply", "a handler must return a reply, a list of directives, or nothing");
};

/** How a run continues, each field read once. */
const toNext = (given: unknown, maxIdLength: number): ContinueWith => {
  if (typeof given !== "object" || given === null) {
    throw new HandlerFault("invalid_reply", "continueWith must be an object");
  }
  const { step, runId, data, expiresInMs } = given as ContinueWith;
  if (runId !== undefined && (typeof runId !== "string" || runId === "" || runId.length > maxIdLength)) {
    throw new HandlerFault("invalid_reply", `runId must be a string of 1 to ${maxIdLength} characters`);
  }
  return {
    step,
    runId,
    data: data === undefined ? undefined : handlerJson(data, "continueWith.data"),
    expiresInMs,
  };
};

/** The one question among the directives that a continuation belongs to. */
const questionIn = (directives: readonly ActionDirective[]): ActionDirective | undefined => {
  const [question, ...others] = directives.filter(
    ({ action_type, payload }) => action_type === "request_approval" && payload?.continuation === undefined,
  );
  if (others.length === 0) return question;
  throw new HandlerFault("several_approvals", "one continuation answers one request_approval");
};

const expiryOf = ({ expiresInMs }: ContinueWith, { continuationMs }: ShellEngineLimits): number => {
  if (expiresInMs === undefined) return continuationMs;
  if (Number.isSafeInteger(expiresInMs) && expiresInMs > 0) return expiresInMs;
  throw new HandlerFault("invalid_reply", "expiresInMs must be a whole number of milliseconds above 0");
};

const continueRun = async <Context>(
  directives: ActionDirective[],
  next: ContinueWith,
  parts: ReplyParts<Context>,
): Promise<Continuation> => {
  const { route, conversation, continuations, owner, limits } = parts;
  const { step, runId, data } = next;
  route.checkStep(step);
  const question = questionIn(directives);
  const { conversationId } = conversation;
  const continuation = await continuations.issue(owner, {
    session: conversation.sessionId,
    conversation: conversationId,
    run: runId ?? parts.runId(),
    sop: route.sop,
    route: route.key,
    step,
    digest: question ? await digest(approvalSubject(question)) : undefined,
    data,
    expiresInMs: expiryOf(next, limits),
  });
  if (question) question.payload = { ...question.payload, continuation: { ...continuation } as never };
  return continuation;
};

/** A handler's own extensions of the response. */
const toExtensions = (given: unknown): Extensions | undefined => {
  if (given === undefined) return undefined;
  const kept = ExtensionsSchema.safeParse(handlerJson(given, "extensions"));
  if (!kept.success) throw new HandlerFault("invalid_reply", "extensions must be an object of JSON");
  if (Object.hasOwn(kept.data, HARNESSKIT_EXTENSION)) {
    throw new HandlerFault("invalid_reply", `extensions: ${HARNESSKIT_EXTENSION} belongs to the engine`);
  }
  return kept.data;
};

/** A continuation in a handler's own scheme. */
const toOwnContinuation = ({ continuation, continueWith }: ShellReply): Continuation | undefined => {
  if (continuation === undefined) return undefined;
  if (continueWith !== undefined) {
    throw new HandlerFault("invalid_reply", "a reply has `continueWith` or `continuation`, not both");
  }
  const kept = ContinuationSchema.safeParse(handlerJson(continuation, "continuation"));
  if (kept.success) return kept.data;
  throw new HandlerFault(
    "invalid_reply",
    "continuation must be an object with run_id, sop_id, continuation_token",
  );
};

/** What is sent of a reply, before there is a continuation. */
interface Finished extends CheckedDirectives {
  readonly extensions: Extensions | undefined;
}

/** Turns what a handler returned into what is sent. Rejects with a `HandlerFault`. */
export const finishReply = async <Context>(
  returned: unknown,
  parts: ReplyParts<Context>,
): Promise<Payload> => {
  const reply = asShellReply(returned);
  const { directives: given = [], continueWith } = reply;
  const { limits, isOwnSession } = parts;
  if (!Array.isArray(given)) throw new HandlerFault("invalid_reply", "directives must be a list");
  if (given.length > limits.maxDirectives) {
    throw new HandlerFault(
      "too_many_directives",
      `a response has ${limits.maxDirectives} directives at most`,
    );
  }
  const checked = checkDirectives(given, parts.registry, parts.held);
  for (const fault of checked.faults) parts.onFault(fault);
  const finished = { ...checked, extensions: toExtensions(reply.extensions) };
  const own = toOwnContinuation(reply);
  const payload = responsePayload(finished, own && extensionOf(parts, own), parts);
  const text = JSON.stringify(payload);
  if (text.length > limits.maxResponseLength) {
    throw new HandlerFault(
      "response_too_large",
      `a response has ${limits.maxResponseLength} characters at most`,
    );
  }
  return continueWith || (isOwnSession && !own)
    ? withContinuation(finished, continueWith, parts)
    : { ...payload, text };
};

const responsePayload = <Context>(
  { directives, denials, extensions }: Finished,
  own: ResponseExtension | undefined,
  { elapsedMs }: ReplyParts<Context>,
): Payload => {
  const all = own ? { ...extensions, [HARNESSKIT_EXTENSION]: own as never } : extensions;
  const value: ShellResponsePayload = { status: "success", action_directives: directives };
  if (all !== undefined) value.extensions = all;
  value.engine_latency_ms = elapsedMs();
  return { value, denials };
};

const extensionOf = <Context>(
  { conversation: { sessionId, conversationId } }: ReplyParts<Context>,
  continuation: Continuation,
): ResponseExtension => ({
  session_id: sessionId,
  conversation_id: conversationId,
  continuation,
});

/** With the continuation by which the conversation continues. */
const withContinuation = async <Context>(
  finished: Finished,
  continueWith: unknown,
  parts: ReplyParts<Context>,
): Promise<Payload> => {
  const { limits, conversation, continuations, owner } = parts;
  const { sessionId, conversationId } = conversation;
  const continuation = continueWith
    ? await continueRun(finished.directives, toNext(continueWith, limits.maxIdLength), parts)
    : await continuations.issue(owner, {
        session: sessionId,
        conversation: conversationId,
        expiresInMs: limits.continuationMs,
      });
  return responsePayload(finished, extensionOf(parts, continuation), parts);
};
