import type { QueuedTurn } from "@harnesskit/protocol/threads";
import { invalidParams, ProtocolError } from "@harnesskit/wire";
import { TurnError } from "./errors.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** Rejects with a `TurnError` `queue.refused` where what was accepted when a prompt came is refused now that its turn begins. */
export const checkQueued = async (
  session: ThreadSession,
  { agent }: QueuedTurn,
  request: TurnRequest,
): Promise<void> => {
  try {
    if (agent !== undefined && request.agent.name !== agent) throw invalidParams("Unknown agent");
    await session.checkDirectory();
    await session.settings.runner.accept?.(request);
  } catch (cause) {
    if (!ProtocolError.isInstance(cause)) throw cause;
    const message = `The prompt was queued and can no longer be served: ${cause.message}`;
    throw new TurnError("queue.refused", message, { cause });
  }
};
