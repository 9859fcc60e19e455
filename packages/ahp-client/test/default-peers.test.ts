import { createAhpServer } from "@harnesskit/ahp-server";
import { type AhpEventType, ahpEvents, defaultHarnessCapabilities } from "@harnesskit/protocol/ahp";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { base, poll } from "./support/client.ts";
import {
  agreements,
  blockingTypes,
  notificationTypes,
  payloads,
  specialisedTypes,
} from "./support/samples.ts";

type Options = Parameters<typeof createAhpServer>[0];

/** Our client and our server, each with what it does by default. */
const connect = async (handlers: Options["handlers"], options: Partial<Options> = {}) => {
  const harness = createAhpServer({ name: "h", version: "1.0.0", handlers, ...options });
  const pair = createMemoryPair();
  harness.connect(pair.server);
  const client = createAhpClient({ ...base, channel: pair.client });
  onTestFinished(async () => {
    await client.close();
    await harness.close();
  });
  await client.connect();
  return { client, harness };
};

describe("between a client and a harness with their defaults", () => {
  it("every one of the twenty events reaches its handler, advertised or not", async () => {
    const seen: string[] = [];
    const handlers = Object.fromEntries(
      (Object.keys(ahpEvents) as AhpEventType[]).map((type) => [
        type,
        () => {
          seen.push(type);
          return (agreements as Partial<Record<AhpEventType, unknown>>)[type];
        },
      ]),
    );
    const { client } = await connect(handlers as never, { capabilities: defaultHarnessCapabilities });
    for (const type of blockingTypes) {
      const verdict = await client.decide(type, payloads[type] as never);
      expect([type, verdict]).toEqual([type, { origin: "harness", decision: agreements[type] }]);
    }
    for (const type of notificationTypes) client.notify(type, payloads[type] as never);
    await poll(() => seen.length).toBe(20);
    expect(seen.sort()).toEqual(Object.keys(ahpEvents).sort());
  });

  it("idle is allowed, and what the harness does not decide is refused with that reason", async () => {
    const { client } = await connect({});
    expect(await client.decide("idle", payloads.idle)).toEqual({
      origin: "harness",
      decision: { decision: "allow" },
    });
    for (const type of specialisedTypes) {
      if (type === "idle") continue;
      expect(await client.decide(type, payloads[type] as never)).toMatchObject({
        origin: "client",
        code: "not_handled",
        reason: expect.stringContaining(`Capability not supported: ${type}`),
      });
    }
  });

  it("a query that no handler knows has no answer, and a reason", async () => {
    const without = await connect({});
    const reason = expect.stringContaining('"weather"');
    expect(await without.client.query("weather", "sunny?")).toEqual({ answer: null, reason });
    const { client } = await connect({
      query: ({ query_type }) => (query_type === "time" ? { answer: "now" } : undefined),
    });
    expect(await client.query("time", "?")).toEqual({ answer: "now" });
    expect(await client.query("weather", "sunny?")).toEqual({ answer: null, reason });
  });

  it("null in an optional field is not sent", async () => {
    const seen: unknown[] = [];
    const { client } = await connect({});
    const pair = createMemoryPair();
    const raw = createAhpClient({ ...base, channel: pair.client });
    onTestFinished(() => raw.close());
    pair.server.start({
      message(message) {
        const { id, method, params } = message as { id?: string; method: string; params: unknown };
        if (method !== "ahp/handshake") seen.push(params);
        else void pair.server.send({ jsonrpc: "2.0", id, result: client.harness });
      },
      error() {},
      close() {},
    });
    await raw.connect();
    const context = { current_task: null, recent_facts: [], capabilities: { own: null } };
    raw.notify("success", { ...payloads.success, extra: null } as never, { context } as never);
    raw.notify("run_lifecycle", { ...payloads.run_lifecycle, error: null, prompt: "p" } as never);
    raw.notify("post_action", { free: null }, { metadata: null } as never);
    await poll(() => seen.length).toBe(3);
    expect(seen).toMatchObject([
      {
        payload: { ...payloads.success, extra: null },
        context: { recent_facts: [], capabilities: { own: null } },
      },
      { payload: { prompt: "p" } },
      { payload: { free: null } },
    ]);
    expect(JSON.stringify(seen)).not.toMatch(/"(current_task|error|metadata)":null/);
  });
});
