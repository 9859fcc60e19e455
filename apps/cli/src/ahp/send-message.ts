import {
  type AhpClient,
  AhpFailure,
  AhpUsageError,
  type BatchEvent,
  type CallOptions,
  type FullEvent,
  type LossReport,
} from "@harnesskit/ahp-client";
import { ahpEvents, type BlockingEventType, type NotificationEventType } from "@harnesskit/protocol/ahp";
import { usageError } from "../cli-error.ts";
import { oneLine } from "../terminal/one-line.ts";
import { type Outcome, toEventOutcome, withoutHarness } from "./outcome.ts";
import type { DraftEvent, DraftQuery, Message } from "./read-message.ts";

/** A client, and what it has told of notifications that did not arrive. */
export interface Sender {
  readonly client: AhpClient;
  readonly lost: () => LossReport | undefined;
}

/** How long a notification may take to leave. */
const flushTimeoutMs = 10_000;

/** Sends it, after a handshake, and closes the client. Rejects only with a usage error. */
export const sendMessage = async (
  sender: Sender,
  message: Message,
  options: CallOptions,
): Promise<Outcome> => {
  const { client } = sender;
  try {
    await client.handshake(options);
    if (message.kind === "query") return await ask(client, message.query, options);
    if (message.kind === "batch") return await decideAll(client, message.events, options);
    return await send(sender, message.event, options);
  } catch (error) {
    if (AhpFailure.isInstance(error)) return withoutHarness(message, error);
    if (AhpUsageError.isInstance(error)) throw usageError(oneLine(error.message, 500));
    throw error;
  } finally {
    await client.close();
  }
};

const ask = async (client: AhpClient, query: DraftQuery, options: CallOptions): Promise<Outcome> => ({
  kind: "query",
  result: await client.query(query.query_type, query.payload, options),
});

const decideAll = async (
  client: AhpClient,
  events: readonly DraftEvent[],
  options: CallOptions,
): Promise<Outcome> => {
  const verdicts = await client.batch(events as readonly BatchEvent[], options);
  return {
    kind: "batch",
    events: verdicts.map((verdict, index) => toEventOutcome(events[index]?.event_type ?? "", verdict)),
  };
};

const send = async ({ client, lost }: Sender, draft: DraftEvent, options: CallOptions): Promise<Outcome> => {
  const event = {
    session_id: client.sessionId,
    agent_id: client.agentId,
    timestamp: new Date().toISOString(),
    depth: 0,
    ...draft,
  };
  const { event_type: type } = event;
  if (ahpEvents[type].blocking) {
    const verdict = await client.sendFull(event as FullEvent<BlockingEventType>, options);
    return { kind: "event", event: toEventOutcome(type, verdict) };
  }
  client.notifyFull(event as FullEvent<NotificationEventType>);
  await client.flush({ timeoutMs: options.timeoutMs ?? flushTimeoutMs });
  // What was not taken by now counts as lost, and is reported by the close.
  await client.close();
  const reasons = Object.keys(lost()?.byReason ?? {});
  return { kind: "notification", event_type: type, ...(reasons.length > 0 && { lost: reasons.join(", ") }) };
};
