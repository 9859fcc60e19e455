import type { Clock } from "@harnesskit/wire";
import type { ProxyLimits } from "../proxy/limits.ts";
import type { RpcMessage } from "../proxy/rpc-message.ts";
import type { ToolCall } from "./tool-call.ts";

const message = "waiting for a decision: an approval may be pending in the hub's inbox";

/** How long a call may be held, in milliseconds. A client that did not ask for progress may give up after a minute. */
export const holdMsOf = ({ meta }: ToolCall, { holdMs, quietHoldMs }: ProxyLimits): number =>
  meta.progressToken === undefined ? Math.min(holdMs, quietHoldMs) : holdMs;

/** Tells a client that asked for progress that its call waits. Returns what ends that. */
export const startWaitingNotice = (
  { meta: { progressToken } }: ToolCall,
  { progressAfterMs, progressEveryMs }: ProxyLimits,
  clock: Clock,
  send: (message: RpcMessage) => Promise<void>,
): (() => void) => {
  let cancel = () => {};
  if (progressToken === undefined) return cancel;
  let count = 0;
  const after = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => {
      // It must grow, and stay below what the server may send later.
      const progress = ++count / 1_000_000;
      const params = { progressToken, progress, message };
      void send({ jsonrpc: "2.0", method: "notifications/progress", params });
      after(progressEveryMs);
    });
  };
  after(progressAfterMs);
  return () => cancel();
};
