import type { ShellCall } from "@harnesskit/shell-engine";
import { HarnessError } from "@harnesskit/wire";

/** Aborts with a signal whose reason has one of these codes. */
const following = (signal: AbortSignal, codes: readonly string[]): AbortSignal => {
  const follower = new AbortController();
  const onAbort = () => {
    const { reason } = signal;
    if (HarnessError.isInstance(reason) && codes.includes(reason.code)) follower.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return follower.signal;
};

/**
 * What gives up the turn of a message. A shell that comes back for what it asked by an id finds the turn that went on; any other one has
 * gone for good. After the engine closed it cannot be found: the shell must try again, and the turn must not stand twice in
 * the conversation.
 */
export const turnSignal = <Context>({ requestId, signal }: ShellCall<Context>): AbortSignal =>
  requestId === undefined ? signal : following(signal, ["connection_closed", "request_cancelled"]);

/** What gives up a turn that an answer resumes: the shell cancels. In every other case it goes on, and the next request reports its end. */
export const resumedSignal = <Context>({ signal }: ShellCall<Context>): AbortSignal =>
  following(signal, ["request_cancelled"]);
