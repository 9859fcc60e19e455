import { InvalidMessageError } from "@harnesskit/wire";
import { type ContractCase, exchangeContract } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAhpServer } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event, handshake, notification, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const allowing = { pre_action: () => ({ decision: "allow" }) as const };

describe("what is no request or notification", () => {
  it.each([
    ["null", null, ""],
    ["an array of requests", [request("1", "ahp/event", event("pre_action"))], ""],
    ["another version", { jsonrpc: "1.0", id: "7", method: "ahp/event" }, "7"],
    ["no version", { id: 7, method: "ahp/event" }, 7],
    ["an answer", { jsonrpc: "2.0", id: "7", result: {} }, ""],
    ["an error answer", { jsonrpc: "2.0", id: "7", error: { code: 1, message: "m" } }, ""],
    ["an object as id", { jsonrpc: "2.0", id: {}, method: "ahp/event" }, ""],
    ["a number that was rounded as id", { jsonrpc: "2.0", id: 1e300, method: "ahp/event" }, ""],
  ])("is answered with -32600: %s", async (_name, message, id) => {
    const { server, post } = startServer(allowing);
    const agent = await RawAgent.ready(server);
    await agent.channel.send(message);
    const answer = await agent.until(({ error }) => error !== undefined);
    expect(answer).toMatchObject({ jsonrpc: "2.0", id, error: { code: -32600 } });
    expect(answer.error?.data.reason).toBe(Array.isArray(message) ? "batch_of_messages" : "not_json_rpc");
    expect(await post(message)).toEqual(answer);
    expect((await agent.call("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
    expect(server.stats().invalidMessages).toBe(2);
  });

  it("may be too large: -32600, and the connection goes on", async () => {
    const seen: unknown[] = [];
    const { server } = startServer({ ...allowing, post_action: ({ payload }) => void seen.push(payload) });
    const agent = await RawAgent.ready(server);
    const parsed = vi.spyOn(JSON, "parse");
    onTestFinished(() => parsed.mockRestore());
    const fill = "a".repeat(5_000_000);
    // Whole messages, and what no parser would take: none of it is looked at.
    const lines = [
      JSON.stringify(request("big", "ahp/event", event("pre_action", { payload: fill }))),
      JSON.stringify(notification("ahp/event", event("post_action", { payload: fill }))),
      `{oops${fill}`,
    ];
    for (const line of lines) agent.wire.writeRaw(`${line}\n`);
    await agent.until(() => agent.received.filter(({ id }) => id === "").length === 3);
    for (const { error } of agent.received.filter(({ id }) => id === "")) {
      expect(error).toMatchObject({
        code: -32600,
        data: { reason: "message_too_large", max_frame_bytes: 4_194_304 },
      });
    }
    expect(parsed.mock.calls.every(([text]) => String(text).length < 100_000)).toBe(true);
    expect(agent.received.some(({ id }) => id === "big")).toBe(false);
    expect(seen).toEqual([]);
    expect((await agent.call("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
  });

  it("has the same answer for a transport that reads bodies", () => {
    const { server } = startServer();
    const fault = new InvalidMessageError("not_json", "no");
    expect(server.malformed(fault)).toMatchObject({ id: "", error: { code: -32700 } });
  });
});

describe("methods", () => {
  it("that are unknown are -32601, before and after the handshake", async () => {
    const { server } = startServer();
    const agent = RawAgent.connect(server);
    for (const method of ["ahp/none", "", "toString", "__proto__", "AHP/event", "initialize"]) {
      expect((await agent.call(method)).error, method).toMatchObject({
        code: -32601,
        data: { reason: "unknown_method" },
      });
    }
    await agent.call("ahp/handshake", handshake());
    expect((await agent.call("ahp/none", {})).error?.code).toBe(-32601);
  });

  it.each(["ahp/event", "ahp/batch", "ahp/query"])("want their params: %s", async (method) => {
    const { server } = startServer();
    const agent = await RawAgent.ready(server);
    for (const params of [undefined, null, "text", 7, [], [1], {}]) {
      expect((await agent.call(method, params)).error, JSON.stringify(params)).toMatchObject({
        code: -32602,
      });
    }
  });

  it("are answered only where they are requests", async () => {
    const { server } = startServer({ post_action: () => {} });
    const agent = await RawAgent.ready(server);
    await agent.tell(event("post_action"));
    await agent.channel.send(notification("ahp/unknown"));
    await agent.channel.send(notification("ahp/query", {}));
    await agent.settled();
    expect(agent.received.map(({ id }) => id)).toEqual(["r1", "r2"]);
  });
});

const contract: ContractCase[] = exchangeContract({
  name: "ahp-server",
  makeExchange: async () => {
    const server = createAhpServer({ handlers: allowing, name: "n", version: "1" });
    await server.handle(request("h", "ahp/handshake", handshake()), {});
    return server;
  },
  context: {},
  answered: [
    {
      message: request("a", "ahp/event", event("pre_action")),
      reply: { jsonrpc: "2.0", id: "a", result: { decision: "allow" } },
    },
    {
      message: request(2, "ahp/batch", { events: [event("pre_action"), event("post_action")] }),
      reply: { jsonrpc: "2.0", id: 2, result: { decisions: [{ decision: "allow" }, { decision: "allow" }] } },
    },
  ],
  unanswered: [notification("ahp/event", event("post_action"))],
});

describe("the contract of exchanges", () => {
  it.each(contract)("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
