import {
  type AhpCallOptions,
  type AhpClient,
  AhpFailure,
  AhpUsageError,
  type BatchEvent,
  createAhpClient,
  type LossReport,
} from "@harnesskit/ahp-client";
import { ahpEvents, type BlockingEventType, type NotificationEventType } from "@harnesskit/protocol/ahp";
import { ExitCode, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { oneLine, safeJson } from "../terminal/text.ts";
import { openEndpoint } from "./endpoint.ts";
import {
  batchOutcome,
  eventOutcome,
  notificationOutcome,
  type Outcome,
  queryOutcome,
  withoutHarness,
} from "./outcome.ts";
import { type DraftEvent, type Message, readMessage } from "./read-message.ts";
import { readAccess } from "./token.ts";

const flushTimeoutMs = 10_000;

type LostReasons = () => readonly string[];

/** Sends it, after a handshake, and closes the client. Rejects only with a usage error. */
const sendMessage = async (
  client: AhpClient,
  message: Message,
  options: AhpCallOptions,
  lostReasons: LostReasons,
): Promise<Outcome> => {
  try {
    await client.connect(options);
    switch (message.kind) {
      case "query":
        return queryOutcome(await client.query(message.query.query_type, message.query.payload, options));
      case "batch": {
        const verdicts = await client.batch(message.events as readonly BatchEvent[], options);
        const types = message.events.map(({ event_type }) => event_type);
        return batchOutcome(verdicts.map((verdict, index) => eventOutcome(types[index] ?? "", verdict)));
      }
      case "event":
        return await sendEvent(client, message.event, options, lostReasons);
    }
  } catch (error) {
    if (AhpFailure.isInstance(error)) return withoutHarness(message, error);
    if (AhpUsageError.isInstance(error)) throw usageError(oneLine(error.message, 500));
    throw error;
  } finally {
    await client.close();
  }
};

const sendEvent = async (
  client: AhpClient,
  { event_type: type, payload, ...fields }: DraftEvent,
  options: AhpCallOptions,
  lostReasons: LostReasons,
): Promise<Outcome> => {
  if (ahpEvents[type].blocking) {
    const given = { ...fields, ...options };
    return eventOutcome(type, await client.decide(type as BlockingEventType, payload as never, given));
  }
  client.notify(type as NotificationEventType, payload as never, fields);
  await client.flush({ timeoutMs: options.timeoutMs ?? flushTimeoutMs });
  // What was not taken by now counts as lost, and is reported by the close.
  await client.close();
  const reasons = lostReasons();
  return notificationOutcome(type, reasons.length === 0 ? undefined : reasons.join(", "));
};

export interface AhpSendOptions {
  readonly to: string;
  readonly tokenFile?: string;
  readonly apiKeyFile?: string;
  readonly credentialsInQuery?: true;
  /** In seconds. @default what the harness says, else 10 */
  readonly timeout?: number | undefined;
  readonly json?: true;
}

/** `harness ahp send`: a handshake, one message, and the answer of the harness. */
export const ahpSend = async (
  file: string,
  { to, timeout, json, ...access }: AhpSendOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  if (timeout !== undefined && (timeout < 1 || timeout > 3600)) {
    throw usageError("--timeout takes 1 to 3600 seconds");
  }
  const { endpoint, close } = openEndpoint(to, await readAccess(access));
  const message = await readMessage(file);
  const stop = new AbortController();
  const forget = onStopSignals(() => stop.abort());
  let lost: LossReport | undefined;
  try {
    const client = createAhpClient({
      ...endpoint,
      framework: "harness-cli",
      version,
      reconnect: false,
      ...senderOf(message),
      onLoss: (report) => {
        lost = report;
      },
    });
    const calling = { signal: stop.signal, timeoutMs: timeout === undefined ? undefined : timeout * 1000 };
    const outcome = await sendMessage(client, message, calling, () => Object.keys(lost?.byReason ?? {}));
    createTerminal().write(json ? `${safeJson(outcome.document)}\n` : outcome.text);
    return stop.signal.aborted ? ExitCode.interrupted : outcome.exitCode;
  } finally {
    forget();
    close();
  }
};

const senderOf = (
  message: Message,
): { readonly sessionId?: string | undefined; readonly agentId?: string | undefined } => {
  const [first] = message.kind === "batch" ? message.events : [];
  const { session_id: sessionId, agent_id: agentId } =
    (message.kind === "query" ? message.query : message.kind === "event" ? message.event : first) ?? {};
  return {
    sessionId,
    agentId,
  };
};
