import {
  type AttachmentRef,
  type Continuation,
  type EnvironmentState,
  HARNESSKIT_EXTENSION,
  inlineAttachment,
  OPENHARNESS_VERSION,
  type ShellApprovalAnswer,
  type ShellRequest,
  ShellRequestSchema,
} from "@harnesskit/protocol/openharness";
import type { ClientParts } from "./client-parts.ts";
import type { SendableRequest } from "./engine.ts";
import { copyMessage } from "./read-response.ts";
import { ShellClientError, type ShellClientErrorReason } from "./shell-client-error.ts";
import type { ShellAsk } from "./shell-request.ts";
import type { Trace } from "./trace.ts";

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
  new ShellClientError("invalid_request", message, {
    reason,
    cause,
    path,
  });

/** Attachments are references (section 9.1). */
const assertAttachments = (attachments: readonly AttachmentRef[], maxAttachments: number): void => {
  const path = "request.context.attachments";
  if (attachments.length > maxAttachments) {
    throw invalidRequest(`a request has ${maxAttachments} attachments at most`, "too_many_attachments", path);
  }
  const inline = inlineAttachment(attachments);
  if (inline !== undefined) {
    throw invalidRequest(
      "an attachment must say where its data are, and hold none: upload them, and send the reference",
      "inline_attachment",
      `${path}.${inline}`,
    );
  }
  const nowhere = attachments.findIndex(({ ref_id, uri, asset_id }) => !(ref_id || uri || asset_id));
  if (nowhere < 0) return;
  throw invalidRequest(
    "an attachment has a ref_id, a uri or an asset_id",
    "no_reference",
    `${path}.${nowhere}`,
  );
};

const assertIds = ({ request_id, correlation_id, request }: ShellRequest, maxIdLength: number): void => {
  const { session_id, conversation_id, task_hint } = request.context ?? {};
  const ids = {
    request_id,
    correlation_id,
    "request.context.session_id": session_id,
    "request.context.conversation_id": conversation_id,
    "request.context.task_hint.sop_id": task_hint?.sop_id,
    "request.context.task_hint.plugin_id": task_hint?.plugin_id,
    "request.context.task_hint.business_key": task_hint?.business_key,
  };
  for (const [path, id] of Object.entries(ids)) {
    if (id === undefined || id.length <= maxIdLength) continue;
    throw invalidRequest(`an id has ${maxIdLength} characters at most`, "id_too_long", path);
  }
};

/** With the trace, for which a channel has no header. */
const extensionsOf = ({ ask: { extensions }, approval, trace: { context } }: RequestParts) => {
  if (extensions !== undefined && Object.hasOwn(extensions, HARNESSKIT_EXTENSION)) {
    throw invalidRequest(
      `${HARNESSKIT_EXTENSION} is the client's own`,
      "schema",
      "request.context.extensions",
    );
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
  const { maxRequestBytes: maxBytes, maxDepth } = limits;
  const copy = copyMessage(given, { maxBytes, maxDepth }, (problem, cause) =>
    invalidRequest("the request is not JSON, too large, or too deep", problem, undefined, cause),
  );
  const parsed = ShellRequestSchema.safeParse(copy);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".");
    throw invalidRequest("not a valid OpenHarness request", "schema", path);
  }
  assertIds(parsed.data, limits.maxIdLength);
  assertAttachments(parsed.data.request.context?.attachments ?? [], limits.maxAttachments);
  return { ...parsed.data, request_id: requestId };
};
