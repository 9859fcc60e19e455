import { createThreadServer, type ThreadServer, type Tool, type TurnRunner } from "@harnesskit/thread-server";
import type { Channel, HarnessError } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { expect } from "vitest";
import type { ThreadEvent } from "../src/index.ts";
import { createCutTransport, createInstantClock } from "./cut-transport.ts";
import { collect } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

/** Says something in several deltas, runs one command that needs an approval, and says something else. */
const runner: TurnRunner = {
  async run(turn) {
    const first = turn.message();
    for (const part of ["I ", "shall ", "run ", "it."]) first.append(part);
    await first.complete();
    await turn.callTool({ callId: "call_1", tool: "bash", input: { command: "ls" } });
    const last = turn.message();
    for (const part of ["That ", "was ", "it."]) last.append(part);
    await last.complete();
  },
};

export const createCountingServer = (): { server: ThreadServer; runs: unknown[] } => {
  const runs: unknown[] = [];
  const tool: Tool = {
    name: "bash",
    description: "Counts the command.",
    input: { type: "object", properties: { command: { type: "string" } } },
    effects: "execute",
    run: (input, { stdout }) => {
      runs.push(input);
      void stdout("a\n");
      return "done";
    },
  };
  return { server: createThreadServer({ runner, tools: [tool] }), runs };
};

export const connectInMemory = (server: ThreadServer) => async () => {
  const pair = createMemoryPair();
  server.connect(pair.server);
  return { channel: pair.client, kill: () => pair.clientWire.kill() };
};

const untilTurnEnd = async (events: AsyncIterable<ThreadEvent>): Promise<ThreadEvent[]> => {
  const all: ThreadEvent[] = [];
  for await (const event of events) {
    all.push(event);
    if (event.type === "turn.completed" || event.type === "turn.error") break;
  }
  return all;
};

const withoutDeltas = <T extends { type: string }>(events: readonly T[]): T[] =>
  events.filter(({ type }) => type !== "item.delta");

/** The same event as it came to a turn: its number and time within the data. */
const asTold = ({ seq, time, type, data }: ThreadEvent) => ({ type, data: { ...data, seq, time } });

/**
 * Runs one turn with an approval with a client that loses its connections at these messages, beside one that stays, and
 * compares what they saw. Returns how many messages came.
 */
export const runWithCuts = async (
  cuts: ReadonlySet<number>,
  { server, runs }: ReturnType<typeof createCountingServer>,
  connect: () => Promise<{ channel: Channel; kill: () => void }>,
): Promise<{ messages: number; connections: number }> => {
  const cutting = createCutTransport(connect, cuts);
  const errors: HarnessError[] = [];
  const asked: string[] = [];
  const client = await connectClient({
    transport: cutting.transport,
    clock: createInstantClock(),
    reconnect: { maxAttempts: 20, initialDelayMs: 10, random: () => 0 },
    onApproval: ({ requestId }) => {
      asked.push(requestId);
      return "once";
    },
    onError: (error) => errors.push(error),
  });
  const steady = await connectClient({
    transport: createCutTransport(connectInMemory(server)).transport,
  });
  try {
    const { threadId } = await client.createThread({ title: "Work" });
    const own = untilTurnEnd(await client.subscribe(threadId, { afterSeq: 0 }));
    const other = untilTurnEnd(await steady.subscribe(threadId, { afterSeq: 0 }));
    const turn = await client.startTurn({ threadId, input: "go" });
    const ofTurn = await collect(turn);
    const [ownEvents, otherEvents] = await Promise.all([own, other]);
    const { events: log } = await steady.getThread(threadId);

    expect(withoutDeltas(ownEvents)).toEqual(withoutDeltas(otherEvents));
    expect(withoutDeltas(ownEvents)).toEqual(withoutDeltas(log));
    const numbers = ownEvents.map(({ seq }) => seq ?? 0);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(withoutDeltas(ofTurn)).toEqual(withoutDeltas(otherEvents.slice(1)).map(asTold));
    expect(await turn.result).toMatchObject({ status: "completed", turn: { turnId: turn.turnId } });

    expect(asked).toHaveLength(1);
    expect(runs).toHaveLength(1);
    expect((await steady.listThreads()).threads).toHaveLength(1);
    expect(log.filter(({ type }) => type === "turn.started")).toHaveLength(1);
    expect(errors).toEqual([]);
  } finally {
    await Promise.all([client.close(), steady.close()]);
    await server.close();
  }
  return { messages: cutting.messages, connections: cutting.connections };
};
