import { displayText, HarnessError, warnPlatform, withoutSecretShapes } from "@harnesskit/wire";

/** Where something failed, as far as it is known. */
export interface ThreadFailureContext {
  readonly threadId?: string | undefined;
  readonly turnId?: string | undefined;
  /** The name of the tool that was called. */
  readonly tool?: string | undefined;
}

/** What clients can cause as often as they like: as warnings they could fill a log. */
const clientCodes: ReadonlySet<string> = new Set([
  "invalid_message",
  "frame_too_large",
  "buffer_full",
  "connection_closed",
  "transport_failed",
]);

/** A warning of the process for each failure of the server, without secrets that a provider may have repeated; none for what a client sends wrong. */
export const warnOfFailure = (error: unknown, { threadId, tool }: ThreadFailureContext): void => {
  const known = HarnessError.isInstance(error) ? error : undefined;
  if (threadId === undefined && clientCodes.has(known?.code ?? "")) return;
  const place = `${threadId === undefined ? "" : `thread ${threadId}: `}${tool === undefined ? "" : `tool ${tool}: `}`;
  const said = known
    ? `${known.message}${known.cause === undefined ? "" : ` (${known.cause})`}`
    : String(error);
  warnPlatform("ThreadServerWarning", {
    kind: known?.code ?? "unexpected_error",
    message: displayText(withoutSecretShapes(`${place}${said}`)),
    cause: error,
  });
};
