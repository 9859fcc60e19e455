import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { newlineCodec } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";
import { tcpTransport } from "./tcp.ts";

const clientAt = (endpoint: string, token: string): AhpClient => {
  const who = {
    framework: "test-agent",
    version: "1.0.0",
    capabilities: ["pre_action"],
    reconnect: false,
  } as const;
  const credentials = { bearer: token };
  if (endpoint.startsWith("http")) {
    const exchange = createHttpExchange({ url: endpoint, credentials });
    return createAhpClient({ ...who, exchange });
  }
  const transport = endpoint.startsWith("stdio:")
    ? createChildTransport({ command: "/bin/sh", args: ["-c", `exec ${endpoint.slice(6)}`] })
    : endpoint.startsWith("ws")
      ? createWebSocketTransport({ url: endpoint, credentials })
      : endpoint.startsWith("unix:")
        ? createUnixTransport({ path: endpoint.slice(5), framing: "newline" })
        : tcpTransport(endpoint, newlineCodec());
  return createAhpClient({ ...who, transport } as never);
};

/** The driver of our client: what the suite has an agent do. */
export const startAhpAgent: StartModule = async ({ endpoint, token }) => {
  const client = clientAt(endpoint, token);
  const operations: Record<string, (params: any) => unknown> = {
    connect: () => client.connect(),
    async decide({ event_type, payload, timeout_ms, ...options }) {
      const { decision } = await client.decide(event_type, payload, { ...options, timeoutMs: timeout_ms });
      return { decision };
    },
    notify({ event_type, payload, ...options }) {
      client.notify(event_type, payload, options);
      // What is noted is allowed.
      return { decision: { decision: "allow" } };
    },
    batch: async ({ events }) => ({
      decisions: (await client.batch(events)).map(({ decision }) => decision),
    }),
    query: ({ query_type, payload, timeout_ms }) =>
      client.query(query_type, payload, { timeoutMs: timeout_ms }),
    close: () => client.close(),
  };
  return {
    do: async (operation, params) => await operations[operation]?.(params),
    close: () => client.close(),
  };
};
