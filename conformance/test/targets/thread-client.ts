import { createThreadClient, type ThreadClient, type TurnHandle } from "@harnesskit/thread-client";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import type { StartModule } from "../../src/index.ts";

const clientAt = (endpoint: string, token: string): ThreadClient => {
  const transport = endpoint.startsWith("stdio:")
    ? createChildTransport({ command: "/bin/sh", args: ["-c", `exec ${endpoint.slice(6)}`] })
    : endpoint.startsWith("ws")
      ? createWebSocketTransport({ url: endpoint, credentials: { bearer: token } })
      : createUnixTransport({ path: endpoint.slice(5) });
  return createThreadClient({ transport, reconnect: false, clientInfo: { name: "test" } } as never);
};

/** What came of a turn: its end, the texts of its messages, and the last of them. */
const follow = async (turn: TurnHandle): Promise<object> => {
  const texts: unknown[] = [];
  for await (const { type, data } of turn) {
    const text = (data as { item?: { data?: { text?: unknown } } }).item?.data?.text;
    if (type === "item.completed" && text !== undefined) texts.push(text);
  }
  return { ...(await turn.result), text: texts.at(-1), texts };
};

/** The code of the protocol for an error of the client. */
const rpcCodes: Readonly<Record<string, number>> = {
  thread_not_found: -32001,
  turn_busy: -32002,
  turn_not_found: -32003,
  approval_not_found: -32004,
  invalid_params: -32602,
  internal_error: -32603,
};

/** The driver of our client: what the suite has a client of threads do. */
export const startThreadClient: StartModule = async ({ endpoint, token }) => {
  const client = clientAt(endpoint, token);
  const operations: Record<string, (params: any) => unknown> = {
    connect: () => client.connect(),
    create_thread: async ({ title }) => ({ thread: await client.createThread({ title }) }),
    list_threads: () => client.listThreads({}),
    get_thread: ({ threadId }) => client.getThread(threadId),
    start_turn: async ({ threadId, text, approval }) => {
      const onApproval = approval === undefined ? {} : { onApproval: () => approval };
      return await follow(await client.startTurn({ threadId, input: text, ...onApproval }));
    },
    cancel_turn: async ({ threadId }) => ({ done: await client.cancelTurn(threadId) }),
    respond_approval: ({ requestId, decision }) => client.respondApproval(requestId, decision),
    close: () => client.close(),
  };
  return {
    async do(operation, params) {
      try {
        return (await operations[operation]?.(params)) ?? {};
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        throw Object.assign(new Error(message), { code, rpcCode: rpcCodes[code] });
      }
    },
    close: () => client.close(),
  };
};
