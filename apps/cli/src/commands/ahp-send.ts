import { createAhpClient, type LossReport } from "@harnesskit/ahp-client";
import { readAccess } from "../ahp/credentials.ts";
import { openEndpoint } from "../ahp/harness-endpoint.ts";
import { exitCodeOf } from "../ahp/outcome.ts";
import { outcomeJson, outcomeText } from "../ahp/outcome-view.ts";
import { type Message, readMessage } from "../ahp/read-message.ts";
import { sendMessage } from "../ahp/send-message.ts";
import { usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface AhpSendOptions {
  readonly to: string;
  readonly tokenFile?: string;
  readonly apiKeyFile?: string;
  /** The credentials stand in the URL of the WebSocket. */
  readonly credentialsInQuery?: true;
  /** In seconds. @default what the harness says, else 10 */
  readonly timeout?: number;
  readonly json?: true;
}

/** `harness ahp send`: a handshake, one message, and what the harness says to it. */
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
    const outcome = await sendMessage({ client, lost: () => lost }, message, {
      signal: stop.signal,
      ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
    });
    createTerminal().write(json ? outcomeJson(outcome) : outcomeText(outcome));
    return stop.signal.aborted ? ExitCode.interrupted : exitCodeOf(outcome);
  } finally {
    forget();
    close();
  }
};

/** The handshake is made by who sends the message; of a batch, by who sends its first event. */
const senderOf = (message: Message): { readonly sessionId?: string; readonly agentId?: string } => {
  const [first] = message.kind === "batch" ? message.events : [];
  const { session_id: sessionId, agent_id: agentId } =
    (message.kind === "query" ? message.query : message.kind === "event" ? message.event : first) ?? {};
  return { ...(sessionId !== undefined && { sessionId }), ...(agentId !== undefined && { agentId }) };
};
