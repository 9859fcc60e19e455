import { describe, expect, it } from "vitest";
import { connected, failureOf, misuseOf } from "./support/client.ts";

const noTimes: unknown[] = ["5", 0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, {}, true, 5n, new Date()];

describe("a timeoutMs that is no time", () => {
  it.each(noTimes)("is refused by every call, and nothing is sent: %o", async (given) => {
    const { client, harness } = await connected();
    const options = { timeoutMs: given as number };
    const sent = harness.events.length;
    const calls = [
      client.decide("pre_action", {}, options),
      client.batch([{ event_type: "pre_action", payload: {} }], options),
      client.query("t", "q", options),
      client.connect(options),
    ];
    for (const call of calls) {
      expect(await failureOf(call)).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
    }
    expect(harness.events).toHaveLength(sent);
    expect(client.stats()).toMatchObject({ events: 0, inFlight: 0 });
  });
});

describe("a batch that is none", () => {
  it.each([null, undefined, 5, "pre_action", {}, new Set()])("is refused: %o", async (given) => {
    const { client } = await connected();
    expect(await misuseOf(() => client.batch(given as never))).toBe("invalid_event");
    expect(client.stats().events).toBe(0);
  });
});
