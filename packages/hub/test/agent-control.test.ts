import type { AhpClient } from "@harnesskit/ahp-client";
import { type ControlHandlers, followControl } from "@harnesskit/ahp-client/thread-gates";
import { createManualClock } from "@harnesskit/wire/testing";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { type HubClient, HubError } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

const codeOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HubError);
  return (error as HubError).code;
};

const follow = (agent: AhpClient, handlers: Partial<ControlHandlers>) => {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const none = () => Promise.reject(new Error("nothing runs in this session"));
  void followControl(agent, { stop: none, message: none, ...handlers }, { signal: ended.signal });
  return ended;
};

const whenControllable = (client: HubClient, agent: string) =>
  until(async () => {
    const { agents } = await client.call("agents.list");
    return agents.find((each) => each.agent === agent)?.controllable.includes("s1") === true;
  });

it("stops the agent of a session and gives it a prompt, says what it refused, and records who told it", async () => {
  await using hub = await openHub();
  const [agent, client] = [await hub.agent("harness"), await hub.client()];
  const told: string[] = [];
  follow(agent, {
    stop: async (session) => void told.push(`stop ${session}`),
    message: async (session, text) => {
      if (text === "no") throw new Error("the thread is archived");
      told.push(`message ${session} ${text}`);
    },
  });
  await whenControllable(client, "harness");
  const of = { agent: "harness", session: "s1" };
  expect(await client.call("agents.control", { ...of, action: "stop" })).toEqual({ ok: true });
  expect(await client.call("agents.control", { ...of, action: "message", text: "and test it" })).toEqual({
    ok: true,
  });
  expect(told).toEqual(["stop s1", "message s1 and test it"]);
  // Decisions are made beside the query that is held.
  expect((await agent.decide("pre_action", call("ls", "c1", "read"))).decision.decision).toBe("allow");
  const refused = client.call("agents.control", { ...of, action: "message", text: "no" });
  await expect(refused).rejects.toMatchObject({
    code: "agent_refused",
    message: "The agent refused it: the thread is archived",
  });
  await expect(client.call("agents.control", { ...of, action: "stop", text: "x" })).rejects.toMatchObject({
    code: "invalid_params",
  });
  expect(hub.entries.filter(({ action }) => action === "hub.control")).toMatchObject([
    { outcome: "ok", details: { ...of, action: "stop", by: "ada (terminal)" } },
    { outcome: "ok", details: { action: "message" } },
    { outcome: "refused", details: { reason: "agent_refused" } },
  ]);
});

it("refuses what no agent can take: none is connected, it takes no commands, or it is gone before it answers", async () => {
  await using hub = await openHub();
  const client = await hub.client();
  const stop = (agent: string) => client.call("agents.control", { agent, session: "s1", action: "stop" });
  expect(await codeOf(stop("nobody"))).toBe("agent_not_connected");
  await hub.agent("plain");
  expect(await codeOf(stop("plain"))).toBe("agent_not_controllable");
  const agent = await hub.agent("harness");
  follow(agent, { stop: () => agent.close() });
  await whenControllable(client, "harness");
  expect(await codeOf(stop("harness"))).toBe("agent_not_connected");
  await until(async () =>
    (await client.call("agents.list")).agents.every((each) => each.controllable.length === 0),
  );
});

it("says that an agent did not answer in time, and takes back what it has not taken", async () => {
  const clock = createManualClock();
  await using hub = await openHub({ clock });
  const [agent, client] = [await hub.agent("harness"), await hub.client()];
  let asked = 0;
  follow(agent, {
    stop: () => {
      asked++;
      return new Promise(() => {});
    },
  });
  await whenControllable(client, "harness");
  const stop = () => client.call("agents.control", { agent: "harness", session: "s1", action: "stop" });
  const [first, second] = [codeOf(stop()), codeOf(stop())];
  await until(async () => asked > 0);
  clock.advance(10_000);
  expect(await Promise.all([first, second])).toEqual(["agent_did_not_answer", "agent_did_not_answer"]);
  expect(asked).toBeLessThan(3);
});
