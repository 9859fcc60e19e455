import {
  createThreadServer,
  type ThreadServerOptions,
  type Tool,
  type TurnContext,
  type TurnRunner,
} from "@harnesskit/thread-server";
import { createDeferred } from "@harnesskit/wire";
import { createMemoryTransport } from "@harnesskit/wire/testing";
import { onTestFinished } from "vitest";
import {
  createThreadChatTransport,
  type ThreadChatTransport,
  type ThreadChatTransportOptions,
} from "../../../src/ai-sdk-ui/index.ts";
import { createThreadClient, type ThreadClient } from "../../../src/index.ts";

/** Reading passes, writing asks. */
const tools: Tool[] = [
  {
    name: "read",
    description: "Reads a file.",
    input: { type: "object", properties: { path: { type: "string" } } },
    effects: "read",
    run: async ({ path }, { stdout }) => {
      await stdout("opened\n");
      if (path === "missing.txt") throw new TypeError("no such file");
      return { path, text: "two litres" };
    },
  },
  {
    name: "write",
    description: "Writes a file.",
    input: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
    effects: "write",
    run: async ({ path }) => `wrote ${String(path)}`,
  },
  {
    name: "update_plan",
    description: "Says what is planned.",
    input: { type: "object", properties: { steps: { type: "array" } } },
    effects: "read",
    run: async () => "ok",
  },
];

const say = async (turn: TurnContext, text: string, step: number, reasoning?: true): Promise<void> => {
  const message = turn.message({ step, ...(reasoning && { reasoning }) });
  for (const word of text.match(/\S+\s*/gu) ?? []) message.append(word);
  await message.complete();
};

/** What the agent does is what the prompt says. `hold` waits in the middle of an answer until `release` is called. */
export class Agent implements TurnRunner {
  readonly #held = createDeferred<void>();
  readonly holding = createDeferred<void>();
  runs = 0;

  release(): void {
    this.#held.resolve();
  }

  async run(turn: TurnContext): Promise<void> {
    this.runs++;
    const [part] = turn.input;
    const text = part?.type === "text" ? part.text : "";
    await say(turn, "I think first. ", 0, true);
    await say(turn, "Let me look. ", 0);
    const { readonlyCalls, writes } = readCalls(text);
    let step = 0;
    for (const call of [...readonlyCalls, ...writes])
      await turn.callTool({ ...call, callId: `call_${call.tool}_${step}`, step });
    if (text.includes("hold")) {
      const message = turn.message({ step: ++step });
      message.append("Half of ");
      this.holding.resolve();
      const aborted = new Promise((resolve) =>
        turn.signal.addEventListener("abort", resolve, { once: true }),
      );
      await Promise.race([this.#held.promise, aborted]);
      turn.signal.throwIfAborted();
      message.append("the answer.");
      await message.complete();
    }
    if (text.includes("fail")) throw new TypeError("a secret of the server");
    if (text.includes("artifact"))
      await turn.artifact({ kind: "report", path: "report.md", mimeType: "text/markdown", sizeBytes: 12 });
    turn.addUsage({ inputTokens: 3, outputTokens: 4 });
    await say(turn, "Done. ", step + 1);
  }
}

const readCalls = (text: string) => ({
  readonlyCalls: [
    ...(text.includes("plan") ? [{ tool: "update_plan", input: { steps: ["look", "write"] } }] : []),
    ...(text.includes("read") ? [{ tool: "read", input: { path: "milk.txt" } }] : []),
    ...(text.includes("missing") ? [{ tool: "read", input: { path: "missing.txt" } }] : []),
  ],
  writes: (text.match(/write/gu) ?? []).map((_, index) => ({
    tool: "write",
    input: { path: `milk-${index}.txt`, content: "two litres" },
  })),
});

export interface Setup {
  readonly agent: Agent;
  readonly client: ThreadClient;
  readonly transport: ThreadChatTransport;
  readonly threadId: string;
  /** Another client of the same server. */
  connect(): Promise<ThreadClient>;
}

/** A thread server with an agent, and a transport of `useChat` over a client of it, until the test is finished. */
export const setUp = async (
  options: Omit<ThreadChatTransportOptions, "client"> = {},
  serverOptions: Partial<ThreadServerOptions> = {},
): Promise<Setup> => {
  const agent = new Agent();
  const { transport: wire, listener } = createMemoryTransport();
  const server = createThreadServer({ runner: agent, tools, ...serverOptions });
  await listener.listen((channel) => server.connect(channel));
  const clients: ThreadClient[] = [];
  const connect = async () => {
    const client = createThreadClient({ transport: wire });
    clients.push(client);
    await client.connect();
    return client;
  };
  onTestFinished(async () => {
    agent.release();
    for (const client of clients) await client.close();
    await server.close();
    await listener.close();
  });
  const client = await connect();
  const transport = createThreadChatTransport({ client, ...options });
  const { threadId } = await client.createThread();
  return { agent, client, transport, threadId, connect };
};
