import type { ShellCall } from "@harnesskit/shell-engine";
import { HarnessError } from "@harnesskit/wire";

/** The codes of reasons after which no shell comes back for the turn: the engine closed, or the shell cancelled. */
const finalCodes: ReadonlySet<string> = new Set(["connection_closed", "request_cancelled"]);

/**
 * What gives up the turn of a message. A shell that comes back for what it asked by an id finds the turn that went on; any other one has
 * gone for good. After the engine closed it cannot be found: the shell must try again, and the turn must not stand twice in
 * the conversation.
 */
export const turnSignal = <Context>({ requestId, signal }: ShellCall<Context>): AbortSignal => {
  if (requestId === undefined) return signal;
  const closing = new AbortController();
  const onAbort = () => {
    const { reason } = signal;
    if (HarnessError.isInstance(reason) && finalCodes.has(reason.code)) closing.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return closing.signal;
};
