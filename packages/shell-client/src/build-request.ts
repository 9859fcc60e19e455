import {
  type AttachmentRef,
  type Continuation,
  type EnvironmentState,
  HARNESSKIT_EXTENSION,
  inlineAttachment,
  OPENHARNESS_VERSION,
  type ShellApprovalAnswer,
  ShellRequestSchema,
} from "@harnesskit/protocol/openharness";
import type { TraceContext } from "@harnesskit/wire/trace";
import type { ClientParts } from "./client-parts.ts";
import type { SendableRequest } from "./engine.ts";
import { copyMessage } from "./read-response.ts";
import { ShellClientError, type ShellClientErrorReason } from "./shell-client-error.ts";
import type { ShellAsk } from "./shell-request.ts";

/** Where all requests of one call belong. */
export interface Trace {
  readonly correlationId: string;
  /** The span of the call. */
  readonly context: TraceContext | undefined;
}

/** What a request says, beside what all requests of a client say. */
export interface RequestParts {
  readonly ask: ShellAsk;
  readonly trace: Trace;
  readonly continuation?: Continuation | undefined;
  /** As it leaves. */
  readonly environment?: EnvironmentState | undefined;
  readonly approval?: ShellApprovalAnswer | undefined;
}

const invalidRequest = (message: string, reason: ShellClientErrorReason, path?: string, cause?: unknown) =>
  new ShellClientError("invalid_request", message, { reason, cause, path });

/** Attachments are references (section 9.1). */
const assertAttachments = (attachments: readonly AttachmentRef[]): void => {
  const path = "request.context.attachments";
  const inline = inlineAttachment(attachments);
  if (inline !== undefined) {
    const message =
      "an attachment must say where its data are, and hold none: upload them, and send the reference";
    throw invalidRequest(message, "inline_attachment", `${path}.${inline}`);
  }
  const nowhere = attachments.findIndex(({ ref_id, uri, asset_id }) => !(ref_id || uri || asset_id));
  if (nowhere < 0) return;
  throw invalidRequest(
    "an attachment has a ref_id, a uri or an asset_id",
    "no_reference",
    `${path}.${nowhere}`,
  );
};

/** With the trace, for which a channel has no header. */
const extensionsOf = ({ ask: { extensions }, approval, trace: { context } }: RequestParts) => {
  if (extensions !== undefined && Object.hasOwn(extensions, HARNESSKIT_EXTENSION)) {
    const message = `${HARNESSKIT_EXTENSION} is the client's own`;
    throw invalidRequest(message, "schema", "request.context.extensions");
  }
  if (approval === undefined && context === undefined) return extensions;
  return { ...extensions, [HARNESSKIT_EXTENSION]: { approval, ...context } };
};

/**
 * Makes a request (sections 5 to 9): a copy that no caller can change while it is tried again. Throws a `ShellClientError`
 * with `invalid_request`, and the reason and place.
 */
export const buildRequest = (client: ClientParts, parts: RequestParts): SendableRequest => {
  const { shell, capabilities, auth, limits, createId } = client;
  const { trace, continuation, ask, environment } = parts;
  const { sessionId, conversationId } = client.session.now;
  const requestId = createId("req");
  const given = {
    protocol_version: OPENHARNESS_VERSION,
    request_id: requestId,
    correlation_id: trace.correlationId,
    capabilities,
    request: {
      auth,
      context: {
        session_id: sessionId,
        conversation_id: conversationId,
        user_intent: ask.intent,
        task_hint: ask.taskHint,
        continuation,
        environment_state: environment,
        attachments: ask.attachments,
        shell,
        extensions: extensionsOf(parts),
      },
    },
  };
  const bounds = { maxBytes: limits.maxRequestBytes, maxDepth: limits.maxDepth };
  const copy = copyMessage(given, bounds, (problem, cause) =>
    invalidRequest("the request is not JSON, too large, or too deep", problem, undefined, cause),
  );
  const parsed = ShellRequestSchema.safeParse(copy);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".");
    throw invalidRequest("not a valid OpenHarness request", "schema", path);
  }
  assertAttachments(parsed.data.request.context?.attachments ?? []);
  return { ...parsed.data, request_id: requestId };
};

/** What may stand in a header of ours; any other id travels in the body alone. */
const idPattern = /^[\x21-\x7e]{1,512}$/;

/** The headers of a request; the same for each of its attempts. */
export const headersOf = (requestId: string, { correlationId, context }: Trace): Record<string, string> => {
  const headers: Record<string, string> = { ...context };
  if (idPattern.test(requestId)) headers["x-request-id"] = requestId;
  if (idPattern.test(correlationId)) headers["x-correlation-id"] = correlationId;
  return headers;
};
