import { CoreRefusalSchema } from "@harnesskit/protocol/runtime";
import { ConnectionClosedError, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { connected, launchOf, open, openAudited, silentObserver } from "./support/scripted-agent.ts";

it("the hello notifies the launch's observer", async () => {
  const { core } = openAudited();
  const observer = { connected: vi.fn(), registered: vi.fn(), health: vi.fn(), disconnected: vi.fn() };
  const { agent, welcome } = await connected(core, { observer });
  expect(observer.connected).toHaveBeenCalledExactlyOnceWith({
    sessionId: welcome.payload.session_id,
    agentVersion: "1.2.3",
  });
  expect(observer.registered).toHaveBeenCalledExactlyOnceWith(["demo.agent/echo"]);
  await agent.channel.close();
  await nextTurn(5);
  expect(observer.disconnected).toHaveBeenCalledExactlyOnceWith({
    code: "agent.lost",
    message: "the agent closed the connection",
  });
});

describe("a hello that is refused", () => {
  const refused = async (
    prepare: (
      setting: ReturnType<typeof openAudited>,
      token: string,
    ) => { token: unknown; hello?: object; agentId?: string },
  ) => {
    const setting = openAudited();
    const { token } = setting.core.admit(launchOf("demo.agent"), silentObserver);
    const { token: shown, hello, agentId } = prepare(setting, token);
    const agent = open(setting.core, agentId);
    const sent = agent.hello(shown as string, hello);
    const welcome = await agent.next("core.welcome");
    await agent.channel.closed;
    expect(CoreRefusalSchema.safeParse(welcome).success).toBe(true);
    expect(welcome.in_reply_to).toBe(sent.id);
    expect(JSON.stringify(setting.audit.entries())).not.toContain(token);
    expect(JSON.stringify(agent.received)).not.toContain(token);
    expect(setting.core.agents()).toEqual([]);
    await setting.core.close();
    const [entry] = setting.entries().filter(({ action }) => action === "agent.refused");
    return { code: welcome.error.code, said: welcome.error.message, reason: entry?.details.reason, token };
  };

  it("because the token is unknown, missing, expired or of another agent", async () => {
    const code = "protocol.unauthorized";
    expect(await refused(() => ({ token: "guess" }))).toMatchObject({ code, reason: "token_unknown" });
    expect(await refused(() => ({ token: undefined }))).toMatchObject({ code, reason: "token_missing" });
    expect(await refused((_, token) => ({ token, agentId: "other.agent" }))).toMatchObject({
      code,
      reason: "token_other_agent",
      said: "it says that its id is other.agent, and its manifest has another id: make them the same",
    });
    const expired = await refused(({ clock }, token) => {
      clock.advance(60_000);
      return { token };
    });
    expect(expired).toMatchObject({ code, reason: "token_expired" });
  });

  it("because the token was used", async () => {
    const { core, audit, entries } = openAudited();
    const { agent, admission } = await connected(core);
    const thief = open(core);
    thief.hello(admission.token);
    const refusal = await thief.next("core.welcome");
    await thief.channel.closed;
    expect(refusal.error.code).toBe("protocol.unauthorized");
    expect(entries().find(({ action }) => action === "agent.refused")?.details.reason).toBe("token_used");
    expect(JSON.stringify(audit.entries())).not.toContain(admission.token);
    expect(Buffer.from(admission.token, "base64url")).toHaveLength(32);
    expect(agent.closed).toBe(false);
  });
});

describe("before the hello", () => {
  it("silence ends the connection", async () => {
    const { core, clock, entries } = openAudited({ helloTimeoutMs: 1000 });
    const agent = open(core);
    clock.advance(999);
    await nextTurn(5);
    expect(agent.closed).toBe(false);
    clock.advance(1);
    expect((await agent.next("core.error")).error.code).toBe("protocol.unresponsive");
    await agent.channel.closed;
    expect(entries().at(-1)?.details).toEqual({ code: "protocol.unresponsive", reason: "no_hello" });
  });

  it("only so many connections wait", async () => {
    const { core, entries } = openAudited({ limits: { maxUnauthenticatedConnections: 2 } });
    const [first, second, third] = [open(core), open(core), open(core)];
    await third.channel.closed;
    expect([first.closed, second.closed]).toEqual([false, false]);
    expect(entries().at(-1)).toMatchObject({ action: "agent.refused", outcome: "limited" });
    await first.channel.close();
    await nextTurn(5);
    const fourth = await connected(core);
    expect(fourth.agent.closed).toBe(false);
  });
});

it("a second hello ends the session", async () => {
  const { core } = openAudited();
  const { agent, admission } = await connected(core);
  agent.hello(admission.token);
  expect((await agent.next("core.error")).error.code).toBe("protocol.out_of_order");
  await agent.channel.closed;
  expect(core.agents()).toEqual([]);
});

describe("a launch", () => {
  it("does not come back after a goodbye", async () => {
    const { core } = openAudited();
    const { agent, admission } = await connected(core);
    expect(core.goodbye("demo.agent", { reason: "enough" })).toBe(true);
    expect((await agent.next("core.goodbye")).payload).toEqual({ reason: "enough" });
    await agent.channel.closed;
    expect(core.goodbye("demo.agent", { reason: "enough" })).toBe(false);
    const again = open(core);
    again.hello(admission.token);
    expect((await again.next("core.welcome")).error.code).toBe("protocol.unauthorized");
  });

  it("that is revoked has no session and no token", async () => {
    const { core } = openAudited();
    const { agent, admission } = await connected(core);
    const call = core.call("demo.agent/echo", { text: "a" });
    await agent.next("core.tool.call");
    admission.revoke({ code: "agent.exited", message: "the process ended" });
    admission.revoke();
    expect(await call.result).toMatchObject({
      status: "failed",
      error: { code: "agent.lost", retryable: false },
    });
    await agent.channel.closed;
    const unused = core.admit(launchOf("demo.agent"), silentObserver);
    unused.revoke();
    const late = open(core);
    late.hello(unused.token);
    expect((await late.next("core.welcome")).error.code).toBe("protocol.unauthorized");
  });

  it("is admitted with an id that an agent may have, while the core is open", async () => {
    const { core } = openAudited();
    const admit = (id: string) => () => core.admit(launchOf(id), silentObserver);
    expect(admit("no/agent")).toThrow(InvalidArgumentError);
    await core.close();
    expect(admit("demo.agent")).toThrow(ConnectionClosedError);
  });

  it("of an agent that is connected takes its place", async () => {
    const { core } = openAudited();
    const first = await connected(core);
    const second = await connected(core);
    expect((await first.agent.next("core.goodbye")).payload.reason).toContain("took its place");
    await first.agent.channel.closed;
    expect(core.agents().map(({ sessionId }) => sessionId)).toEqual([second.welcome.payload.session_id]);
    const call = core.call("demo.agent/echo", { text: "hi" });
    second.agent.succeed(await second.agent.next("core.tool.call"), { said: "hi" });
    expect(await call.result).toEqual({ status: "succeeded", output: { said: "hi" } });
  });
});
