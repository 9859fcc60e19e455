import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { FailOpenDecisions, OnFailOpen } from "../src/judge.ts";
import { connected, poll } from "./support/client.ts";
import { afterHandshake, type FakeHarness } from "./support/fake-harness.ts";
import { agreements, blockingTypes, payloads } from "./support/samples.ts";

const allOpen = agreements as unknown as FailOpenDecisions;

type Told = Parameters<OnFailOpen>[0][];

const start = async (
  answer: ConstructorParameters<typeof FakeHarness>[0],
  failOpen: FailOpenDecisions = allOpen,
  options = {},
) => {
  const told: Told = [];
  const parts = await connected(answer, {
    failOpen,
    onFailOpen: (opened) => {
      told.push(opened);
      throw new TypeError("whoever is told is broken");
    },
    reconnect: false,
    ...options,
  });
  return { ...parts, told };
};

describe("failOpen", () => {
  it.each(blockingTypes)("decides %s where nobody is there, and is loud", async (type) => {
    const { harness, client, told } = await start(undefined);
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    const verdict = await client.decide(type, payloads[type] as never);
    expect(verdict).toMatchObject({
      origin: "client",
      decision: agreements[type],
      code: "unreachable",
      failedOpen: true,
      reason: expect.stringContaining("unreachable"),
    });
    expect(told).toEqual([{ eventType: type, verdict }]);
  });

  it("is for its own type only", async () => {
    const { harness, client, told } = await start(undefined, { idle: { decision: "allow" } });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    for (const type of blockingTypes) {
      const verdict = await client.decide(type, payloads[type] as never);
      expect(verdict).toMatchObject({ origin: "client", failedOpen: type === "idle" });
    }
    expect(told.map(({ eventType }) => eventType)).toEqual(["idle"]);
  });

  it("is for events of a batch too, and never for notifications in it", async () => {
    const { harness, client, told } = await start(undefined, { pre_action: { decision: "allow" } });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    const verdicts = await client.batch([
      { event_type: "pre_action", payload: 1 },
      { event_type: "pre_prompt", payload: 1 },
      { event_type: "post_action", payload: 1 },
    ]);
    expect(verdicts.map(({ decision }) => decision.decision)).toEqual(["allow", "block", "block"]);
    expect(told).toHaveLength(1);
  });

  it("is for a harness that is silent or lost", async () => {
    const clock = createManualClock();
    const silent = await start(
      afterHandshake(() => {}),
      allOpen,
      { clock },
    );
    const waiting = silent.client.decide("pre_action", {});
    await silent.harness.until("ahp/event", 1);
    clock.advance(10_000);
    expect(await waiting).toMatchObject({ code: "timeout", failedOpen: true });
    const cut = await start(afterHandshake((_message, { wire }) => wire.kill()));
    expect(await cut.client.decide("pre_action", {})).toMatchObject({
      code: "connection_lost",
      failedOpen: true,
    });
  });

  it("is not for a harness that answers, whatever it answers, nor for a limit, nor for a caller who gives up", async () => {
    const codes: string[] = [];
    const note = (verdict: any) => {
      expect(verdict).toMatchObject({ failedOpen: false, decision: { decision: "block" } });
      codes.push(verdict.code);
    };
    const failing = await start(afterHandshake((message, { fail }) => fail(message, -32603, "no")));
    note(await failing.client.decide("pre_action", {}));
    note(await failing.client.decide("pre_action", {}, { depth: 11 }));
    note(await failing.client.decide("pre_action", {}, { signal: AbortSignal.abort() }));
    note(await failing.client.decide("pre_action", { text: "x".repeat(5 * 1024 * 1024) }));
    const other = await start(afterHandshake((message, { fail }) => fail(message, -32601, "no such event")));
    note(await other.client.decide("pre_action", {}));
    const nonsense = await start(afterHandshake((message, { reply }) => reply(message, { decision: "yes" })));
    note(await nonsense.client.decide("pre_action", {}));
    const garbled = await start(afterHandshake((message, { write }) => write({ id: message.id, result: 1 })));
    note(await garbled.client.decide("pre_action", {}));
    await garbled.client.close();
    note(await garbled.client.decide("pre_action", {}));
    expect(codes).toEqual([
      "harness_error",
      "depth_exceeded",
      "cancelled",
      "unsendable",
      "not_handled",
      "invalid_decision",
      "invalid_answer",
      "closed",
    ]);
    for (const { told } of [failing, other, nonsense, garbled]) expect(told).toEqual([]);
  });

  it("hands out copies of its decisions", async () => {
    const own = { decision: "modify" as const, modified_payload: { safe: true } };
    const { harness, client } = await start(undefined, { pre_action: own });
    own.modified_payload.safe = false;
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    for (let round = 0; round < 2; round++) {
      const { decision } = (await client.decide("pre_action", {})) as any;
      expect(decision.modified_payload).toEqual({ safe: true });
      decision.modified_payload.safe = false;
    }
  });
});
