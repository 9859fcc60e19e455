import { agentEnvironment } from "@harnesskit/protocol/runtime";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { displayText, type HarnessError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import {
  ClientCredentialsProvider,
  type OAuthClientProvider,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { channelTransport, lostAnswer, maxAnswerDepth } from "./channel-transport.ts";
import { type Fetch, refuseLegacySse } from "./legacy-sse.ts";
import type { McpServer } from "./mcp-server.ts";
import { readMessageText } from "./read-message.ts";
import type { Secrets } from "./secrets.ts";
import type { ServerSetup } from "./server-setup.ts";

export interface OpenTransportOptions extends Omit<ServerSetup, "times" | "clock"> {
  readonly signal: AbortSignal;
  /** A message that is not valid. */
  readonly onFault: (error: HarnessError) => void;
  /** See `ChannelTransportOptions`. */
  readonly onDiscovered: (result: unknown) => void;
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

/** What a POST asks, in its body, which is our own. */
const requestOf = (body: unknown): { readonly id?: RequestId; readonly method?: string } =>
  typeof body === "string" ? (JSON.parse(body) as ReturnType<typeof requestOf>) : {};

/** `fetch` whose answers are bounded, and read as those on standard streams are. */
const readingFetch =
  ({ limits: { maxMessageBytes }, onBroken }: OpenTransportOptions): Fetch =>
  (url, init) => {
    const { id, method } = requestOf(init?.body);
    const lost = (reason: string) => (id === undefined ? "" : JSON.stringify(lostAnswer(id, reason)));
    const send = createBoundedFetch({
      maxMessageBytes,
      onBroken(verb, error) {
        // Such a stream is opened again where it ends.
        if (method !== "subscriptions/listen") onBroken(verb, error);
      },
      rewrite: (text) => readMessageText(text, id),
      tooLarge: () => lost(`the answer exceeds the limit of ${maxMessageBytes} bytes`),
      missing: () => lost("the request ended without an answer"),
    });
    return refuseLegacySse(send)(url, init);
  };

/** Starts the program of a server, or makes ready what posts to its URL. Rejects with `transport_failed`. */
export const openTransport = async (options: OpenTransportOptions): Promise<Transport> => {
  const { server, secrets, limits, signal, onFault, onDiscovered, onEnd } = options;
  if ("url" in server) {
    const headers = Object.entries(server.headers ?? {}).map(([header, name]) => [
      header,
      secrets.values[name] ?? "",
    ]);
    const authProvider = options.authProvider ?? (server.oauth && oauthOf(server.oauth, secrets));
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      ...defined({ authProvider }),
      requestInit: { headers: Object.fromEntries(headers) as Record<string, string> },
      fetch: readingFetch(options),
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
    maxFrameBytes: limits.maxMessageBytes,
    maxDepth: maxAnswerDepth,
    maxBufferedBytes: limits.maxBufferedBytes,
    stderr: (line) => options.onOutput(displayText(secrets.redact(line), { maxLength: 2000 })),
    cwd: server.cwd,
  }).connect({ signal });
  return channelTransport(channel, {
    maxMessageBytes: limits.maxMessageBytes,
    maxInvalidMessages: limits.maxInvalidMessages,
    onFault,
    onDiscovered,
    onClosed: onEnd,
  });
};
