import { agentEnvironment } from "@harnesskit/protocol/runtime";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { displayText, type HarnessError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { ClientCredentialsProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { channelTransport, lostAnswer, maxAnswerDepth } from "./channel-transport.ts";
import { refuseLegacySse } from "./legacy-sse.ts";
import type { McpLimits } from "./limits.ts";
import type { McpServer } from "./mcp-server.ts";
import { readMessageText } from "./read-message.ts";
import type { Secrets } from "./secrets.ts";

export interface OpenTransportOptions {
  readonly server: McpServer;
  readonly secrets: Secrets;
  readonly limits: McpLimits;
  readonly authProvider?: OAuthClientProvider | undefined;
  readonly signal: AbortSignal;
  /** A message that is not valid. */
  readonly onFault: (error: HarnessError) => void;
  /** A line that the server wrote to its standard error. Untrusted. */
  readonly onOutput: (line: string) => void;
  /** The connection has ended, or `broken`: a request's answer broke off. */
  readonly onEnd: (error: HarnessError | undefined) => void;
  readonly onBroken: (method: string, error: unknown) => void;
}

/** How long a server may take to end a session. */
const endSessionTimeoutMs = 1000;

const oauthOf = (
  { issuer, clientId, clientSecret, scope }: NonNullable<Extract<McpServer, { url: string }>["oauth"]>,
  { values }: Secrets,
): OAuthClientProvider =>
  new ClientCredentialsProvider(
    defined({
      expectedIssuer: issuer,
      clientId,
      clientSecret: values[clientSecret] ?? "",
      scope,
    }),
  );

/** Of the request in a POST's body, which is our own; undefined where it asks for nothing. */
const requestIdOf = (body: unknown): string | number | undefined =>
  typeof body === "string" ? (JSON.parse(body) as { id?: string | number }).id : undefined;

/** Starts the program of a server, or makes ready what posts to its URL. Rejects with `transport_failed`. */
export const openTransport = async (options: OpenTransportOptions): Promise<Transport> => {
  const { server, secrets, limits, signal, onFault, onEnd } = options;
  const { maxMessageBytes } = limits;
  if ("url" in server) {
    const headers = Object.entries(server.headers ?? {}).map(([header, name]) => [
      header,
      secrets.values[name] ?? "",
    ]);
    const authProvider = options.authProvider ?? (server.oauth && oauthOf(server.oauth, secrets));
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      ...defined({ authProvider }),
      requestInit: { headers: Object.fromEntries(headers) as Record<string, string> },
      fetch: refuseLegacySse(
        createBoundedFetch({
          maxMessageBytes,
          onBroken: options.onBroken,
          rewrite(text, init) {
            const id = requestIdOf(init?.body);
            if (text !== undefined) return readMessageText(text, id);
            const tooLarge = `the answer exceeds the limit of ${maxMessageBytes} bytes`;
            return id === undefined ? "" : JSON.stringify(lostAnswer(id, tooLarge));
          },
          missing(init) {
            const id = requestIdOf(init?.body);
            return id === undefined
              ? ""
              : JSON.stringify(lostAnswer(id, "the request ended without an answer"));
          },
        }),
      ),
    });
    const close = transport.close.bind(transport);
    return Object.assign(transport, {
      async close() {
        const options = { name: "terminateSession", timeoutMs: endSessionTimeoutMs };
        await settleWithin(transport.terminateSession(), options);
        await close();
      },
    }) as Transport;
  }
  const [command, ...args] = server.command;
  const { launchId } = agentEnvironment;
  const channel = await createChildTransport({
    command,
    args,
    env: secrets.values,
    // By it the core finds what outlives the agent.
    inheritEnv: [launchId],
    maxFrameBytes: maxMessageBytes,
    maxDepth: maxAnswerDepth,
    maxBufferedBytes: limits.maxBufferedBytes,
    stderr: (line) => options.onOutput(displayText(secrets.redact(line), { maxLength: 2000 })),
    cwd: server.cwd,
  }).connect({ signal });
  return channelTransport(channel, {
    maxMessageBytes,
    maxInvalidMessages: limits.maxInvalidMessages,
    onFault,
    onClosed: onEnd,
  });
};
