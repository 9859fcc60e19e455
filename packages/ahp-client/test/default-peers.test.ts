import { createAhpServer } from "@harnesskit/ahp-server";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { base } from "./support/client.ts";
import { payloads, specialisedTypes } from "./support/samples.ts";

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
});
