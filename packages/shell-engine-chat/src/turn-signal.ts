import type { ShellCall } from "@harnesskit/shell-engine";
import { HarnessError } from "@harnesskit/wire";

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
    if (HarnessError.isInstance(reason) && reason.code === "connection_closed") closing.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return closing.signal;
};
