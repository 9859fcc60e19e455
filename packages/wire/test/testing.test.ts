import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import type { Channel, Exchange, HarnessError } from "../src/index.ts";
import { createPeer } from "../src/rpc/index.ts";
import {
  createFaultyTransport,
  createManualClock,
  createMemoryPipes,
  createMemoryTransport,
  exchangeContract,
  type Fault,
} from "../src/testing/index.ts";
import { outcomeOf } from "./rpc/support.ts";

const sourceFiles = (folder: URL): URL[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => new URL(`file://${entry.parentPath}/${entry.name}`));

/** What a channel reports, in order. */
const listen = (channel: Channel) => {
  const log: unknown[] = [];
  channel.start({
    message: (message) => void log.push(message),
    error: (error) => void log.push({ error: error.code }),
    close: ({ error }) => void log.push({ close: error?.code ?? "in good order" }),
  });
  return log;
};

it("the package imports nothing of Node", () => {
  const files = sourceFiles(new URL("../src/", import.meta.url));
  for (const file of files)
    expect(readFileSync(file, "utf8")).not.toMatch(/from "node:|import\("node:|require\(/);
});

describe("createManualClock", () => {
  it("calls back in the order of time, also what a callback sets", () => {
    const clock = createManualClock(1000);
    const calls: [string, number][] = [];
    const note = (name: string) => () => void calls.push([name, clock.now()]);
    clock.after(30, note("c"));
    clock.after(10, () => {
      note("a")();
      clock.after(10, note("b"));
    });
    const takeBack = clock.after(20, note("never"));
    takeBack();
    takeBack();
    expect(clock.pending).toBe(2);
    clock.advance(29);
    expect(calls).toEqual([
      ["a", 1010],
      ["b", 1020],
    ]);
    expect(clock.now()).toBe(1029);
    clock.advance(1);
    expect(calls.at(-1)).toEqual(["c", 1030]);
    expect(clock.pending).toBe(0);
  });
});

describe("createMemoryPipes", () => {
  it("fail every write after the other side is gone", async () => {
    const [first, second] = createMemoryPipes();
    const closed: unknown[] = [];
    first.start({ bytes() {}, end() {}, closed: (error) => closed.push(error?.code) });
    second.destroy();
    const failure = await new Promise<unknown>((resolve) => first.write("x", resolve));
    expect(failure).toMatchObject({ code: "transport_failed" });
    expect(closed).toEqual(["transport_failed"]);
  });
});

describe("createMemoryTransport", () => {
  it("connects a client to a listener, each time anew, and closes what is open", async () => {
    const { transport, listener } = createMemoryTransport({
      clientContext: "to server",
      serverContext: "to client",
    });
    await expect(outcomeOf(transport.connect())).resolves.toMatchObject({
      error: { code: "transport_failed" },
    });
    await listener.listen((channel) => {
      expect(channel.context).toBe("to client");
      createPeer(channel, { request: (method) => method });
    });
    await expect(outcomeOf(listener.listen(() => {}))).resolves.toMatchObject({
      error: { code: "invalid_argument" },
    });
    const channels = [await transport.connect(), await transport.connect()];
    expect(channels[0]?.context).toBe("to server");
    const peers = channels.map((channel) => createPeer(channel));
    await expect(Promise.all(peers.map((peer) => peer.request("hello")))).resolves.toEqual([
      "hello",
      "hello",
    ]);
    await listener.close();
    await listener.close();
    await Promise.all(peers.map((peer) => peer.closed));
    await expect(outcomeOf(transport.connect())).resolves.toMatchObject({
      error: { code: "transport_failed" },
    });
  });
});

describe("createFaultyTransport", () => {
  const connect = async (faults: Fault[]) => {
    const { transport, listener } = createMemoryTransport();
    const accepted: Channel[] = [];
    await listener.listen((channel) => accepted.push(channel));
    const faulty = createFaultyTransport(transport, faults);
    const client = await faulty.connect();
    const [server] = accepted as [Channel];
    onTestFinished(() => listener.close());
    const sends: Promise<unknown>[] = [];
    return {
      faulty,
      atServer: listen(server),
      atClient: listen(client),
      async run(direction: "send" | "receive") {
        const from = direction === "send" ? client : server;
        for (const message of ["a", "b", "c"]) sends.push(outcomeOf(from.send(message)));
        await nextTurn();
        return Promise.race([Promise.all(sends), nextTurn().then(() => "some wait")]);
      },
    };
  };

  it.each<[Fault["kind"], unknown[], unknown[]]>([
    ["drop", ["a", "c"], ["a", "c"]],
    ["duplicate", ["a", "b", "b", "c"], ["a", "b", "b", "c"]],
    ["garble", ["a", "\ufffdgarbled\ufffd", "c"], ["a", { error: "invalid_message" }, "c"]],
    ["close_before", ["a", { close: "in good order" }], ["a", { close: "transport_failed" }]],
    ["close_after", ["a", "b", { close: "in good order" }], ["a", "b", { close: "transport_failed" }]],
  ])("%s meets just the chosen message", async (kind, atServer, atClient) => {
    const sending = await connect([{ direction: "send", index: 1, kind }]);
    await sending.run("send");
    await nextTurn();
    expect(sending.atServer).toEqual(atServer);
    const receiving = await connect([{ direction: "receive", index: 1, kind }]);
    await receiving.run("receive");
    await nextTurn();
    expect(receiving.atClient).toEqual(atClient);
  });

  it("delays until released, in both directions", async () => {
    const sending = await connect([{ direction: "send", index: 0, kind: "delay" }]);
    await expect(sending.run("send")).resolves.toBe("some wait");
    expect(sending.atServer).toEqual(["b", "c"]);
    expect(sending.faulty.delayed).toBe(1);
    sending.faulty.release();
    await nextTurn();
    expect(sending.atServer).toEqual(["b", "c", "a"]);
    expect(sending.faulty.delayed).toBe(0);
    const receiving = await connect([{ direction: "receive", index: 1, kind: "delay" }]);
    await receiving.run("receive");
    expect(receiving.atClient).toEqual(["a", "c"]);
    receiving.faulty.release();
    expect(receiving.atClient).toEqual(["a", "c", "b"]);
  });

  it("fails a send with transport_failed, and sends the others", async () => {
    const { run, atServer } = await connect([{ direction: "send", index: 1, kind: "fail" }]);
    await expect(run("send")).resolves.toMatchObject([{}, { error: { code: "transport_failed" } }, {}]);
    expect(atServer).toEqual(["a", "c"]);
  });
});

describe("exchangeContract", () => {
  const fine: Exchange<string> = {
    async handle(message) {
      const { echo } = (message ?? {}) as { echo?: unknown };
      return echo === undefined ? undefined : { echo };
    },
  };
  const cases = (handle: Exchange<string>["handle"]) =>
    exchangeContract({
      name: "echo",
      makeExchange: () => ({ handle }),
      context: "test",
      answered: [
        { message: { echo: 1 }, reply: { echo: 1 } },
        { message: { echo: "two" }, reply: { echo: "two" } },
      ],
      unanswered: [{ notify: true }],
      timeoutMs: 200,
    });
  const failing = async (handle: Exchange<string>["handle"]): Promise<string[]> => {
    const names: string[] = [];
    for (const { name, run } of cases(handle)) {
      await run().catch((error: HarnessError) => {
        expect(error).toMatchObject({ code: "contract_broken" });
        names.push(name);
      });
    }
    return names;
  };
  let last: unknown;

  it("passes an exchange that is in order", async () => {
    expect(await failing((message, context) => fine.handle(message, context))).toEqual([]);
  });

  it.each<[string, string, Exchange<string>["handle"]]>([
    ["gets exactly it", "answers wrongly", async () => ({ echo: 0 })],
    ["gets exactly it", "never answers", () => new Promise(() => {})],
    ["gets none", "answers everything", async (message) => (await fine.handle(message, "")) ?? null],
    [
      "each get their own reply",
      "mixes replies up",
      async (message) => {
        last = message;
        await nextTurn();
        return fine.handle(last, "");
      },
    ],
    [
      "throw or reject",
      "rejects",
      async (message) => fine.handle({ echo: (message as { echo: unknown }).echo }, ""),
    ],
    [
      "throw or reject",
      "throws",
      (message) => {
        if (message === null) throw new TypeError("null");
        return fine.handle(message, "");
      },
    ],
    [
      "message is left as it was",
      "changes the message",
      async (message) => {
        const reply = await fine.handle(message, "");
        if (typeof message === "object" && message !== null) Object.assign(message, { seen: true });
        return reply;
      },
    ],
  ])("its case '%s' catches one that %s", async (name, _how, handle) => {
    expect(await failing(handle)).toContainEqual(expect.stringContaining(name));
  });
});
