import { createAhpServer } from "@harnesskit/ahp-server";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import { type Channel, newlineCodec } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";
import { tcpListener } from "./tcp.ts";

interface Wish {
  readonly answer?: unknown;
  readonly fail?: string;
  readonly delay_ms?: number;
}

const wishOf = (event: { readonly metadata?: unknown }): Wish =>
  ((event.metadata ?? {}) as { readonly conformance?: Wish }).conformance ?? {};

/** The test handler of a harness, as the contract of the suite describes it. */
export const createTestHarness = () => {
  const seen: { session_id: string }[] = [];
  const decide = async (event: Pick<AhpEvent, "session_id" | "metadata">): Promise<never> => {
    seen.push(event);
    const { answer, fail, delay_ms } = wishOf(event);
    if (delay_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, delay_ms));
    if (fail !== undefined) throw new Error(fail);
    const wish = wishOf(event);
    return ("answer" in wish ? answer : { decision: "allow" }) as never;
  };
  return createAhpServer({
    name: "test-harness",
    version: "1.0.0",
    handlers: {
      fallback: decide,
      intent_detection: decide,
      context_perception: decide,
      memory_recall: decide,
      planning: decide,
      rate_limit: decide,
      confirmation: decide,
      query: (query) =>
        query.query_type === "conformance.seen"
          ? { answer: seen.filter(({ session_id }) => session_id === query.session_id) as never }
          : undefined,
    },
  });
};

/** Serves it at a place of the suite. */
export const startAhpHarness: StartModule = async ({ endpoint, token }) => {
  const harness = createTestHarness();
  const connect = (channel: Channel<object>) => void harness.connect(channel);
  if (/^(?:unix|tcp):/.test(endpoint)) {
    const listener = endpoint.startsWith("unix:")
      ? createUnixListener({ path: endpoint.slice(5), framing: "newline" })
      : tcpListener(endpoint, newlineCodec());
    await listener.listen(connect);
    return { close: async () => void (await Promise.all([harness.close(), listener.close()])) };
  }
  const port = Number(new URL(endpoint).port);
  const server = createHttpServer({ port, token, routes: { "/ahp": harness } });
  await server.webSocketListener({ path: "/ahp" }).listen(connect);
  await server.listen();
  return { close: async () => void (await Promise.all([harness.close(), server.close()])) };
};
