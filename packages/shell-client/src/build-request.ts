import {
  type AttachmentRef,
  type Capabilities,
  type Continuation,
  type EnvironmentState,
  HARNESSKIT_EXTENSION,
  inlineAttachment,
  OPENHARNESS_VERSION,
  type ShellApprovalAnswer,
  type ShellIdentity,
  type ShellRequest,
  ShellRequestSchema,
} from "@harnesskit/protocol/openharness";
import type { TraceContext } from "@harnesskit/wire/trace";
import type { SendableRequest } from "./engine.ts";
import type { ShellClientLimits } from "./limits.ts";
import { copyMessage } from "./read-response.ts";
import { ShellClientError, type ShellClientErrorReason } from "./shell-client-error.ts";
import type { AuthReferences, ShellSession } from "./shell-client-options.ts";
import type { ShellAsk } from "./shell-request.ts";

/** What all requests of a client have in common. */
export interface RequestFrame {
  readonly shell: ShellIdentity;
  readonly capabilities: Capabilities;
  readonly auth: AuthReferences | undefined;
  readonly limits: ShellClientLimits;
}

export interface RequestParts {
  readonly requestId: string;
  readonly correlationId: string;
  readonly session: ShellSession;
  readonly continuation: Continuation | undefined;
  readonly ask: ShellAsk;
  /** As it leaves. */
  readonly environment: EnvironmentState | undefined;
  readonly approval: ShellApprovalAnswer | undefined;
  /** What a channel has no header for. */
  readonly trace: TraceContext | undefined;
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

const extensionsOf = ({ ask: { extensions }, approval, trace }: RequestParts) => {
  if (extensions !== undefined && Object.hasOwn(extensions, HARNESSKIT_EXTENSION)) {
    throw invalidRequest(
      `${HARNESSKIT_EXTENSION} is the client's own`,
      "schema",
      "request.context.extensions",
    );
  }
  if (approval === undefined && trace === undefined) return extensions;
  return { ...extensions, [HARNESSKIT_EXTENSION]: { approval, ...trace } };
};

/**
 * Makes a request (sections 5 to 9): a copy that no caller can change while it is tried again. Throws a `ShellClientError`
 * with `invalid_request`, and the reason and place.
 */
export const buildRequest = (frame: RequestFrame, parts: RequestParts): SendableRequest => {
  const { shell, capabilities, auth, limits } = frame;
  const { requestId, correlationId, session, continuation, ask, environment } = parts;
  const given = {
    protocol_version: OPENHARNESS_VERSION,
    request_id: requestId,
    correlation_id: correlationId,
    capabilities,
    request: {
      auth,
      context: {
        session_id: session.sessionId,
        conversation_id: session.conversationId,
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
