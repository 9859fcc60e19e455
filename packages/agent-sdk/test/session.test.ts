import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { AgentHealth } from "../src/agent-options.ts";
import { type AgentOptions, defineAgent, tool } from "../src/index.ts";
import { agentId, connected, envelope, linked, rejection, ScriptedCore, token, welcome } from "./support.ts";

const input = { type: "object" };
const make = (name: string, description = "") => tool({ name, description, input, run: () => ({ name }) });
const agentOf = (names: string[], options: Partial<AgentOptions> = {}) =>
  defineAgent({ id: agentId, version: "1.2.3", tools: names.map((name) => make(name)), ...options });

/** A core that answers nothing by itself, and the agent's attempt to connect to it. */
const silent = (options: Partial<AgentOptions> = {}) => {
  const clock = createManualClock();
  const pair = linked();
  const core = new ScriptedCore(pair.server, { isSilent: true });
  const agent = agentOf(["a"], { clock, ...options });
  const connecting = agent.connect(pair.client, { token });
  connecting.catch(() => {});
  return { agent, clock, core, pair, connecting };
};

describe("the handshake", () => {
  it("gives the session, and the token is in no later message", async () => {
    const { core, session } = await connected(agentOf(["a"]));
    expect(session).toMatchObject({
      sessionId: "ses_1",
      server: { core_version: "1.0.0", instance_id: "core_1" },
      registered: [`${agentId}/a`],
      rejected: [],
    });
    await core.result(core.call("a"));
    core.send("core.unknown", {}, { request_id: "r" });
    core.cancel("none");
    await core.settled();
    expect(JSON.stringify(core.seen.slice(1))).not.toContain(token);
    expect(core.seen.every(({ type }) => type.startsWith("agent."))).toBe(true);
    expect(new Set(core.seen.map(({ id }) => id)).size).toBe(core.seen.length);
    for (const { id, ts } of core.seen) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(new Date(ts).toISOString()).toBe(ts);
    }
  });

  it("that is refused rejects with the core's code", async () => {
    const { core, connecting, pair } = silent();
    await core.type("agent.hello");
    core.send("core.welcome", {}, { error: { code: "protocol.unauthorized", message: "wrong token" } });
    expect(await rejection(connecting)).toMatchObject({
      name: "CoreRefusedError",
      code: "protocol.unauthorized",
      refusal: { code: "protocol.unauthorized" },
    });
    await pair.client.closed;
  });

  it("that is not answered in time rejects", async () => {
    const { clock, core, connecting, pair } = silent();
    await core.type("agent.hello");
    clock.advance(10_000);
    expect(await rejection(connecting)).toMatchObject({
      name: "RequestTimeoutError",
      code: "request_timeout",
      method: "agent.hello",
      timeoutMs: 10_000,
    });
    await pair.client.closed;
  });

  it.each([
    ["another version", welcome({ accepted_version: 2 }), "protocol.unsupported_version"],
    ["frames too small for anything", welcome({ max_frame_bytes: 4095 }), "protocol.frame_too_large"],
    ["no session", { ...welcome(), session_id: undefined }, "protocol.invalid_message"],
  ])("with a welcome of %s closes", async (_what, payload, code) => {
    const { core, connecting, pair } = silent();
    await core.type("agent.hello");
    core.send("core.welcome", payload);
    expect(await rejection(connecting)).toMatchObject({ name: "RuntimeProtocolError", code });
    expect(await core.type("agent.error")).toMatchObject({ error: { code } });
    await pair.client.closed;
  });

  it("must come before anything else", async () => {
    const { core, connecting } = silent();
    await core.type("agent.hello");
    core.call("a");
    expect(await rejection(connecting)).toMatchObject({
      name: "RuntimeProtocolError",
      code: "protocol.out_of_order",
    });
    expect(core.all("agent.tool.result")).toEqual([]);
  });
});

describe("the tools", () => {
  it("are registered in as many messages as fit; one that fits nowhere is rejected", async () => {
    const errors: unknown[] = [];
    const tools = [
      make("small"),
      make("huge", "x".repeat(100_000)),
      ...["a", "b", "c"].map((name) => make(name, "y".repeat(40_000))),
    ];
    const agent = defineAgent({
      id: agentId,
      version: "1.0.0",
      tools,
      onError: (error) => errors.push(error),
    });
    const { core, session } = await connected(agent, { welcome: { max_frame_bytes: 65_536 } });
    expect(core.all("agent.tools.register")).toHaveLength(3);
    expect(session.registered).toEqual(["small", "a", "b", "c"].map((name) => `${agentId}/${name}`));
    expect(session.rejected).toMatchObject([
      { tool_id: `${agentId}/huge`, error: { code: "tool.declaration_too_large" } },
    ]);
    expect(errors).toMatchObject([{ name: "ToolsRejectedError", code: "tools_rejected" }]);
  });

  it("that are all rejected end the connection", async () => {
    const pair = linked();
    new ScriptedCore(pair.server, { reject: [`${agentId}/a`] });
    const error = await rejection(agentOf(["a"]).connect(pair.client, { token }));
    expect(error).toMatchObject({
      name: "ToolsRejectedError",
      code: "tools_rejected",
      rejected: [{ tool_id: `${agentId}/a`, error: { code: "tool.invalid_declaration" } }],
    });
    await pair.client.closed;
  });

  it("that are rejected go to onRejected, and then nothing fails", async () => {
    const told: unknown[] = [];
    const agent = agentOf(["a"], { onRejected: (rejected) => told.push(...rejected) });
    const { session } = await connected(agent, { reject: [`${agentId}/a`] });
    expect(session.registered).toEqual([]);
    expect(told).toMatchObject([{ tool_id: `${agentId}/a` }]);
  });

  it("whose registration is not answered, or answered with an error, reject", async () => {
    const first = silent();
    await first.core.type("agent.hello");
    first.core.send("core.welcome", welcome());
    await first.core.type("agent.tools.register");
    first.clock.advance(10_000);
    expect(await rejection(first.connecting)).toMatchObject({
      code: "request_timeout",
      method: "agent.tools.register",
    });

    const second = silent();
    await second.core.type("agent.hello");
    second.core.send("core.welcome", welcome());
    const { id } = await second.core.type("agent.tools.register");
    const error = { code: "protocol.invalid_message", message: "no" };
    second.core.send("core.error", {}, { in_reply_to: id, error });
    expect(await rejection(second.connecting)).toMatchObject({ name: "CoreReportedError", code: error.code });
  });
});

it("heartbeats report the worse of what the agent says of itself and what is counted", async () => {
  const clock = createManualClock();
  const own: { health: () => AgentHealth } = { health: () => ({ status: "ok" }) };
  const errors: string[] = [];
  const agent = agentOf(["a"], {
    clock,
    health: () => own.health(),
    onError: ({ code }) => errors.push(code),
  });
  const { core, session } = await connected(agent, { welcome: { heartbeat_interval_ms: 1000 } });
  const next = async (health: () => AgentHealth) => {
    own.health = health;
    const count = core.all("agent.heartbeat").length + 1;
    clock.advance(1000);
    await core.count("agent.heartbeat", count);
    return core.all("agent.heartbeat").at(-1)?.payload;
  };
  const upstream = {
    status: "degraded",
    details: { upstream: "gone", abandoned_calls: "hidden" },
  } as const;
  expect(await next(() => upstream)).toMatchObject({
    status: "degraded",
    details: { upstream: "gone", abandoned_calls: 0 },
  });
  expect(await next(() => ({ status: "unhealthy" }))).toMatchObject({ status: "unhealthy" });
  expect(await next(() => expect.fail("broken"))).toMatchObject({ status: "degraded" });
  expect(errors).toEqual(["handler_failed"]);
  await session.close();
});

describe("what a core sends", () => {
  const wrong: [string, unknown, string][] = [
    ["a message without an id", { ...envelope("core.ping", {}), id: undefined }, "protocol.invalid_message"],
    [
      "a call without an input",
      envelope("core.tool.call", { call_id: "c", tool_id: "t" }, { request_id: "r" }),
      "protocol.invalid_message",
    ],
    ["a second welcome", envelope("core.welcome", welcome()), "protocol.out_of_order"],
    [
      "a refusal after the welcome",
      envelope("core.welcome", {}, { error: { code: "a", message: "b" } }),
      "protocol.out_of_order",
    ],
  ];

  it.each(wrong)("as %s is answered with an error and ends the connection", async (_what, message, code) => {
    const { core, session } = await connected(agentOf(["a"]));
    await core.channel.send(message);
    expect(await core.type("agent.error")).toMatchObject({ payload: {}, error: { code } });
    expect(await session.closed).toMatchObject({
      reason: "protocol_error",
      error: { name: "RuntimeProtocolError", code },
    });
  });

  it("as core.error that belongs to nothing is reported", async () => {
    const errors: unknown[] = [];
    const { core } = await connected(agentOf([], { onError: (error) => errors.push(error) }));
    core.send("core.error", {}, { error: { code: "protocol.unknown_type", message: "what?" } });
    await core.settled();
    expect(errors).toMatchObject([{ name: "CoreReportedError", code: "protocol.unknown_type" }]);
  });

  it("and was never asked for does no harm", async () => {
    const { core } = await connected(agentOf(["a"]));
    core.send("core.tools.registered", { registered: ["x/y"] });
    core.send("core.tools.unregistered", { tool_ids: [] });
    expect((await core.result(core.call("a"))).payload.status).toBe("succeeded");
  });
});

it("a goodbye is how the connection ended, and the agent closes if the core does not", async () => {
  const clock = createManualClock();
  const agent = agentOf(["a"], { clock });
  const { core, session } = await connected(agent);
  core.send("core.goodbye", { reason: "restart", retry_after_ms: 5 });
  expect((await core.result(core.call("a"))).payload.status).toBe("succeeded");
  clock.advance(5000);
  expect(await session.closed).toEqual({
    reason: "goodbye",
    goodbye: { reason: "restart", retry_after_ms: 5 },
  });
});
