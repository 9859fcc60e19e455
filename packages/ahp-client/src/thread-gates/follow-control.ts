import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  ControlAnswerSchema,
  type ControlCommand,
  type ControlOutcome,
  controlQueryType,
} from "@harnesskit/protocol/hub";
import { type Clock, createDeferred, systemClock } from "@harnesskit/wire";
import type { AhpClient } from "../client-options.ts";

/** What a human may tell the agent of a session. A rejection refuses it, with the error's message as the reason. */
export interface ControlHandlers {
  /** Ends what the session's agent is doing. A rejection is reported to the human. */
  stop(session: string): Promise<void>;
  /** Gives it a prompt, after what it does now. */
  message(session: string, text: string): Promise<void>;
}

export interface FollowControlOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** Longer than a hub holds the query. */
const queryMs = 60_000;
/** After a query that failed. */
const againMs = 1000;
const maxReasonLength = 500;

const carryOut = async (command: ControlCommand, handlers: ControlHandlers): Promise<ControlOutcome> => {
  const { id, session, action, text = "" } = command;
  try {
    await (action === "stop" ? handlers.stop(session) : handlers.message(session, text));
    return { id, outcome: "done" };
  } catch (error) {
    const said = error instanceof Error && error.message !== "" ? error.message : "it does not say why";
    return { id, outcome: "refused", reason: said.slice(0, maxReasonLength) };
  }
};

/**
 * Takes what a human tells the agent at a hub, over the client's connection, until the signal aborts; of a harness that has no such commands,
 * nothing is asked. Never rejects.
 */
export const followControl = async (
  client: Pick<AhpClient, "query" | "state" | "onState" | "harness">,
  handlers: ControlHandlers,
  { signal, clock = systemClock }: FollowControlOptions,
): Promise<void> => {
  let changed = createDeferred<void>();
  const unlisten = client.onState(() => changed.resolve());
  signal.addEventListener("abort", () => changed.resolve(), { once: true });
  let done: readonly ControlOutcome[] = [];
  while (!signal.aborted && client.state !== "closed") {
    const canAsk = client.harness?.harness_info.capabilities.includes(controlQueryType) === true;
    if (client.state !== "ready" || !canAsk) {
      await changed.promise;
      changed = createDeferred<void>();
      continue;
    }
    try {
      const payload = { done } as unknown as JsonObject;
      const { answer } = await client.query(controlQueryType, payload, { timeoutMs: queryMs, signal });
      const { commands } = ControlAnswerSchema.parse(answer);
      done = await Promise.all(commands.map((command) => carryOut(command, handlers)));
    } catch {
      // A connection that is lost is replaced by the client; what was done meanwhile is not known to the next hub.
      done = [];
      const waited = createDeferred<void>();
      const cancel = clock.after(againMs, () => waited.resolve(), true);
      await Promise.race([waited.promise, changed.promise]);
      cancel();
    }
  }
  unlisten();
};
