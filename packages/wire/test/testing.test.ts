import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { Channel } from "../src/index.ts";
import { createPeer } from "../src/rpc/index.ts";
import {
  createFaultyTransport,
  createManualClock,
  createMemoryTransport,
  type Fault,
} from "../src/testing/index.ts";
import { createMemoryPipes } from "../src/testing/memory-pipe.ts";
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
    const client = await createFaultyTransport(transport, faults).connect();
    const [server] = accepted as [Channel];
    onTestFinished(() => listener.close());
    const sends: Promise<unknown>[] = [];
    return {
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

  it("fails a send with transport_failed, and sends the others", async () => {
    const { run, atServer } = await connect([{ direction: "send", index: 1, kind: "fail" }]);
    await expect(run("send")).resolves.toMatchObject([{}, { error: { code: "transport_failed" } }, {}]);
    expect(atServer).toEqual(["a", "c"]);
  });
});
