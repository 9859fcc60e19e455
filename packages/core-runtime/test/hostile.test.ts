import { CoreErrorSchema } from "@harnesskit/protocol/runtime";
import { lengthPrefixCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, vi } from "vitest";
import { cpuTimer, nextTurn } from "../../../test-kit/test-kit.ts";
import type { CallResult, CoreOptions } from "../src/index.ts";
import {
  AgentVoice,
  connected,
  echoTool,
  launchOf,
  openAudited,
  silentObserver,
} from "./support/scripted-agent.ts";

const setUp = async (options: CoreOptions = {}) => {
  const { core, audit, entries } = openAudited(options);
  const witness = await connected(core, { agentId: "witness" });
  const { agent } = await connected(core);
  /** The agent beside still works. */
  const unharmed = async () => {
    const call = core.call("witness/echo", { text: "" });
    witness.agent.succeed(await witness.agent.next("core.tool.call"));
    expect((await call.result).status).toBe("succeeded");
  };
  return { core, agent, audit, entries, unharmed };
};

const frame = (bytes: Uint8Array | string): Uint8Array => {
  const payload = Buffer.from(bytes as string);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(payload.length);
  return Buffer.concat([header, payload]);
};

describe("a frame that is not a message", () => {
  it("is refused and counted; the session goes on until there are too many", async () => {
    const { core, agent, unharmed } = await setUp({ limits: { maxInvalidMessages: 12 } });
    const valid = agent.envelope("agent.tools.unregister", { tool_ids: [] });
    const frames = [
      "",
      "{",
      new Uint8Array([0x22, 0xff, 0x22]),
      "[]",
      "7",
      "null",
      JSON.stringify({ ...valid, v: undefined }),
      JSON.stringify({ ...valid, id: "" }),
      JSON.stringify({ ...valid, ts: "yesterday" }),
      JSON.stringify({ ...valid, payload: undefined }),
      JSON.stringify({ ...valid, payload: [] }),
      JSON.stringify({ ...valid, type: 7 }),
    ];
    for (const [index, bytes] of frames.entries()) {
      agent.wire?.writeRaw(frame(bytes));
      const answer = await agent.next("core.error");
      expect(CoreErrorSchema.safeParse(answer).success).toBe(true);
      expect(answer.error.code, String(index)).toBe("protocol.invalid_message");
      expect(answer.in_reply_to).toBe(index < 6 || index === 7 ? undefined : valid.id);
    }
    expect(agent.closed).toBe(false);
    const call = core.call("demo.agent/echo", { text: "" });
    agent.wire?.writeRaw(frame("{}"));
    expect(await call.result).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
    await agent.channel.closed;
    await unharmed();
  });

  it("that is too large, or says so, is not read and ends the connection, with an audit event without content", async () => {
    for (const header of [
      [0xff, 0xff, 0xff, 0xff],
      [0x00, 0x40, 0x00, 0x01],
    ]) {
      const { core, agent, audit, entries, unharmed } = await setUp();
      agent.wire?.writeRaw(new Uint8Array([...header, ...Buffer.from("private content")]));
      await agent.channel.closed;
      expect(core.agents().map(({ agentId }) => agentId)).toEqual(["witness"]);
      expect(entries().find(({ outcome }) => outcome === "limited")).toMatchObject({
        agent_id: "demo.agent",
        details: { code: "protocol.frame_too_large" },
      });
      expect(JSON.stringify(audit.entries())).not.toContain("private");
      await unharmed();
      await core.close();
    }
  });
});

it("an agent that does not read is cut off when what waits for it reaches the bound, and costs the others nothing", async () => {
  const { core, entries, unharmed } = await setUp();
  const admission = core.admit(launchOf("stuck"), silentObserver);
  const { client, server } = createMemoryPair({
    codec: lengthPrefixCodec(),
    maxBufferedBytes: 20_000,
    capacityBytes: 1000,
    closeTimeoutMs: 50,
  });
  core.connect(server);
  let reads = true;
  const stuck = (): Promise<void> => new Promise(() => {});
  client.start({ message: () => (reads ? undefined : stuck()), error() {}, close() {} });
  const agent = new AgentVoice(client, "stuck");
  agent.hello(admission.token);
  agent.send("agent.tools.register", { tools: [echoTool("stuck")] });
  await vi.waitUntil(() => core.agents().some(({ tools, agentId }) => agentId === "stuck" && tools === 1));
  reads = false;
  const results = [];
  for (let n = 0; n < 60; n++) {
    results.push(core.call("stuck/echo", { text: "x".repeat(1000) }).result);
    await nextTurn(1);
  }
  expect(await Promise.all(results)).toSatisfy((all: CallResult[]) =>
    all.every((each) => each.status === "failed" && /^agent\.(lost|unavailable)$/.test(each.error.code)),
  );
  expect(entries().findLast(({ action }) => action === "agent.disconnected")).toMatchObject({
    agent_id: "stuck",
    details: { code: "protocol.unresponsive" },
  });
  await unharmed();
});

it("a message that would take long to look at is refused before it does", async () => {
  const { agent, unharmed } = await setUp();
  const wide = Array.from({ length: 500_000 }, () => 0);
  const spentMs = cpuTimer();
  agent.send("agent.error", {}, { error: { code: "x", message: "x", details: { wide } }, request_id: "r" });
  expect((await agent.next("core.error")).error.code).toBe("protocol.invalid_message");
  agent.send("agent.tools.unregister", { tool_ids: wide.map(String) });
  expect((await agent.next("core.error")).error.code).toBe("protocol.invalid_message");
  expect(spentMs()).toBeLessThan(4000);
  await unharmed();
});
