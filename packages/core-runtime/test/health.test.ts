import { CorePingSchema } from "@harnesskit/protocol/runtime";
import { expect, it, vi } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { setUp as open, silentObserver } from "./support/scripted-agent.ts";

const setUp = async () => {
  const health = vi.fn();
  const { clock, core, agent, call } = await open(
    { heartbeatIntervalMs: 100 },
    { observer: { ...silentObserver, health } },
  );
  const beat = async (status?: string) => {
    agent.heartbeat(status);
    await nextTurn(2);
  };
  const available = async () => {
    const { callId, result } = call();
    await nextTurn(2);
    const sent = agent.ofType("core.tool.call").some(({ payload }) => payload.call_id === callId);
    if (!sent) expect(await result).toMatchObject({ error: { code: "agent.unavailable", retryable: true } });
    return sent;
  };
  return { clock, core, agent, health, beat, available };
};

it("heartbeats report the agent's health; one that reports unhealthy gets no calls", async () => {
  const { core, agent, health, beat, available } = await setUp();
  expect(core.agents()[0]?.heartbeat).toBeUndefined();
  agent.heartbeat("degraded", { uptime_ms: 1234, inflight_calls: 2 });
  await nextTurn(2);
  expect(core.agents()[0]?.heartbeat).toEqual({ uptime_ms: 1234, inflight_calls: 2 });
  expect(health).toHaveBeenLastCalledWith("degraded", "reported by the agent");
  expect(await available()).toBe(true);
  await beat("unhealthy");
  expect(await available()).toBe(false);
  await beat("unhealthy");
  await beat("ok");
  expect(await available()).toBe(true);
  expect(health.mock.calls.map(([status]) => status)).toEqual(["degraded", "unhealthy", "ok"]);
});

it("a ping is answered, not answered in time, or overtaken by the end of the session", async () => {
  const { clock, core, agent } = await setUp();
  const answered = core.ping("demo.agent", { timeoutMs: 50 });
  const ping = await agent.next("core.ping");
  expect(CorePingSchema.safeParse(ping).success).toBe(true);
  clock.advance(20);
  agent.send("agent.pong", {}, { in_reply_to: ping.id });
  expect(await answered).toBe(20);
  const silent = core.ping("demo.agent", { timeoutMs: 50 }).catch((error) => error.code);
  await nextTurn(5);
  clock.advance(50);
  expect(await silent).toBe("request_timeout");
  const cut = core.ping("demo.agent").catch((error) => error.code);
  await nextTurn(5);
  agent.wire?.kill();
  expect(await cut).toBe("connection_closed");
  await expect(core.ping("demo.agent")).rejects.toMatchObject({ code: "connection_closed" });
});
