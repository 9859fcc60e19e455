import { HeartbeatPayloadSchema } from "@harnesskit/protocol/ahp";
import { HarnessError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { LossReport } from "../src/loss-report.ts";
import { startHarness } from "./ai-sdk/in-process.ts";

const start = async () => {
  const clock = createManualClock();
  const errors: HarnessError[] = [];
  const harness = await startHarness({}, { client: { clock, onError: (error) => errors.push(error) } });
  return { ...harness, clock, errors };
};

describe("heartbeats", () => {
  it("are sent now and in each interval, as the specification has them", async () => {
    const { client, clock, settled, of } = await start();
    clock.advance(1500);
    const stop = client.startHeartbeat(1000, "working");
    await settled();
    expect(of("heartbeat")).toEqual([
      { uptime_ms: 1500, total_events_processed: 0, current_state: "working" },
    ]);
    clock.advance(999);
    await settled();
    expect(of("heartbeat")).toHaveLength(1);
    clock.advance(1);
    clock.advance(2000);
    await settled();
    expect(of("heartbeat").map(({ uptime_ms }) => uptime_ms)).toEqual([1500, 2500, 3500, 4500]);
    expect(of("heartbeat").map(({ total_events_processed }) => total_events_processed)).toEqual([0, 1, 2, 3]);
    const { pending } = clock;
    stop();
    expect(clock.pending).toBe(pending - 1);
    clock.advance(9000);
    await settled();
    expect(of("heartbeat")).toHaveLength(4);
  });

  it("carry every measurement that the agent tells", async () => {
    const { client, settled, of } = await start();
    const state = {
      current_state: "running_tools",
      total_events_processed: 7,
      cpu_percent: 12.5,
      memory_bytes: 1024,
      active_tools: ["bash"],
      pending_actions: 1,
      queue_depth: 2,
      tokens_used: 300,
    };
    client.startHeartbeat(1000, () => state);
    await settled();
    const [payload] = of("heartbeat");
    expect(payload).toEqual({ ...state, uptime_ms: 0 });
    expect(HeartbeatPayloadSchema.safeParse(payload).success).toBe(true);
  });

  it("end with the client", async () => {
    const { client, clock } = await start();
    const { pending } = clock;
    client.startHeartbeat(1000, "a");
    client.startHeartbeat(500, "b");
    expect(clock.pending).toBe(pending + 2);
    await client.close();
    expect(clock.pending).toBe(0);
    const { events } = client.stats();
    clock.advance(10_000);
    expect(client.stats().events).toBe(events);
  });

  it("are left out while there is no connection, and not kept for later", async () => {
    const { client, clock, wire } = await start();
    client.startHeartbeat(1000, "working");
    await client.flush();
    wire.serverWire.kill();
    await expect.poll(() => client.state).not.toBe("ready");
    const { events, notificationsBuffered } = client.stats();
    clock.advance(5000);
    expect(client.stats()).toMatchObject({ events, notificationsBuffered });
  });

  it("go on after a state that throws or is none, and the error is told", async () => {
    const { client, clock, errors, settled, of } = await start();
    const states: (() => any)[] = [
      () => {
        throw new TypeError("broken");
      },
      () => ({ current_state: 5 }),
      () => ({ current_state: "well" }),
    ];
    client.startHeartbeat(1000, () => states.shift()?.());
    clock.advance(2000);
    await settled();
    expect(of("heartbeat")).toMatchObject([{ current_state: "well", uptime_ms: 2000 }]);
    expect(errors.map(({ code }) => code)).toEqual(["handler_failed", "invalid_event"]);
    expect(errors[0]?.cause).toBeInstanceOf(TypeError);
  });

  it("that are left out for their state count as lost, and are told as such, to the harness too", async () => {
    const losses: LossReport[] = [];
    const onLoss = (report: LossReport) => losses.push(report);
    const clock = createManualClock();
    const { client, settled, of } = await startHarness({}, { client: { clock, onLoss } });
    const states: (() => any)[] = [
      () => {
        throw new TypeError("broken");
      },
      () => ({ current_state: 5 }),
      () => ({ current_state: "well" }),
    ];
    client.startHeartbeat(1000, () => states.shift()?.());
    clock.advance(2000);
    await settled();
    expect(of("heartbeat")).toMatchObject([{ current_state: "well" }]);
    expect(client.stats().notificationsLost).toBe(2);
    const byReason = { handler_failed: 1, invalid_event: 1 };
    expect(losses).toMatchObject([{ count: 2, bytes: 0, byType: { heartbeat: 2 }, byReason }]);
    expect(of("error")).toMatchObject([{ code: "notifications_lost", count: 2, by_reason: byReason }]);
  });

  it("can be ended by the state that they ask for", async () => {
    const { client, clock, settled, of } = await start();
    let beats = 0;
    const { pending } = clock;
    const stop = client.startHeartbeat(1000, () => {
      if (++beats === 2) stop();
      return { current_state: "working" };
    });
    clock.advance(5000);
    await settled();
    expect(beats).toBe(2);
    expect(of("heartbeat")).toHaveLength(1);
    expect(clock.pending).toBe(pending);
  });

  it("leave no timer behind where the client is closed, or their first state closes it", async () => {
    const { client, clock } = await start();
    client.startHeartbeat(1000, () => {
      void client.close();
      return { current_state: "ending" };
    });
    await client.close();
    const { pending } = clock;
    client.startHeartbeat(1000, "working")();
    client.startHeartbeat(1000, "working");
    expect(clock.pending).toBe(pending);
    clock.advance(5000);
    expect(client.stats().inFlight).toBe(0);
  });

  it("need an interval", async () => {
    const { client, clock } = await start();
    const { pending } = clock;
    for (const interval of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      let thrown: unknown;
      try {
        client.startHeartbeat(interval, "working");
      } catch (error) {
        thrown = error;
      }
      expect(HarnessError.isInstance(thrown) && thrown.code).toBe("invalid_argument");
    }
    expect(clock.pending).toBe(pending);
  });
});
