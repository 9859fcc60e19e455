import {
  type AhpEventType,
  ahpEvents,
  defaultHarnessCapabilities,
  HandshakeResultSchema,
} from "@harnesskit/protocol/ahp";
import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createAhpServer } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event, handshake } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const allowing = { pre_action: () => ({ decision: "allow" }) as const };

describe("the answer", () => {
  it("names version, harness, capabilities and limits", async () => {
    const { server } = startServer({ ...allowing, query: () => ({ answer: 1 }) });
    const { result } = await RawAgent.connect(server).call("ahp/handshake", handshake());
    expect(result).toEqual({
      protocol_version: "2.4",
      harness_info: {
        name: "test-harness",
        version: "9.9.9",
        capabilities: [
          "pre_action",
          "post_action",
          "pre_prompt",
          "query",
          "batch",
          "run_lifecycle",
          "task_list",
          "verification",
        ],
      },
      config: { timeout_ms: 10_000, batch_size: 100, max_depth: 10 },
    });
    expect(HandshakeResultSchema.parse(result)).toEqual(result);
  });

  it("advertises what it was given", async () => {
    const { shake } = startServer(allowing, {
      capabilities: ["pre_action", "mine"],
      limits: { timeoutMs: 500, batchSize: 7, maxDepth: 0 },
      createSessionToken: ({ session_id }) => `token of ${session_id}`,
    });
    const { result } = await shake();
    expect(result.harness_info.capabilities).toEqual(["pre_action", "mine"]);
    expect(result.config).toEqual({ timeout_ms: 500, batch_size: 7, max_depth: 0 });
    expect(result.session_token).toBe("token of sess-abc");
  });

  it("is an error, and no handshake was done, where the token cannot be made", async () => {
    const { server, errors } = startServer(allowing, {
      createSessionToken: () => {
        throw new Error("secret");
      },
    });
    const agent = RawAgent.connect(server);
    expect((await agent.call("ahp/handshake", handshake())).error).toEqual({
      code: -32603,
      message: "Handler error: the harness failed",
      data: { reason: "internal" },
    });
    expect((await agent.call("ahp/event", event("pre_action"))).error?.data.reason).toBe(
      "handshake_required",
    );
    expect(errors).toEqual([expect.objectContaining({ message: "secret" })]);
  });

  it("derives capabilities from the handlers", async () => {
    const { shake } = startServer({
      confirmation: () => ({ decision: "approve" }),
      idle: () => ({ decision: "allow" }),
    });
    const { capabilities } = (await shake()).result.harness_info;
    expect(capabilities).toEqual([
      "pre_action",
      "post_action",
      "pre_prompt",
      "batch",
      "run_lifecycle",
      "task_list",
      "verification",
      "idle",
      "confirmation",
    ]);
  });

  it("advertises every event that a handler answers, and with a fallback all that this answers", async () => {
    const capabilitiesOf = async (handlers: Parameters<typeof startServer>[0]) =>
      (await startServer(handlers).shake()).result.harness_info.capabilities;
    const heartbeat = await capabilitiesOf({ heartbeat: () => {}, query: () => ({ answer: 1 }) });
    expect(heartbeat).toEqual([...defaultHarnessCapabilities, "heartbeat"]);
    const all = await capabilitiesOf({ fallback: () => ({ decision: "allow" }) });
    const batchable = Object.keys(ahpEvents).filter((type) => ahpEvents[type as AhpEventType].batchable);
    expect(all).toEqual(expect.arrayContaining(batchable));
    expect(all).not.toContain("planning");
    expect(all).not.toContain("query");
  });

  it("advertises a longer time where handlers have one", async () => {
    const { shake } = startServer(allowing, { handlerTimeoutMs: 60_000 });
    expect((await shake()).result.config.timeout_ms).toBe(60_000);
  });
});

describe("the version", () => {
  it("is compatible where the major number is the same", async () => {
    const { shake } = startServer();
    for (const version of ["2", "2.0", "2.4", "2.99", "2.4.0"]) {
      expect((await shake({ protocol_version: version })).result?.protocol_version, version).toBe("2.4");
    }
  });

  it("is refused otherwise, and where it is none", async () => {
    const { shake, server } = startServer();
    const others = ["1.0", "3", "3.0", "", "v2", "2x", "2.", "-2", " 2", "2\n", "20", "99999999999999999999"];
    for (const version of others) {
      const { error } = await shake({ protocol_version: version });
      expect(error?.code, version).toBe(-32000);
      expect(error?.data.reason).toBe("unsupported_version");
    }
    expect(server.stats()).toMatchObject({ handshakes: 0, refusedHandshakes: others.length });
  });
});

describe("on a connection", () => {
  it("comes first: events, batches and queries before it are refused", async () => {
    let asked = 0;
    const decide = () => {
      asked++;
      return { decision: "allow" } as const;
    };
    const { server } = startServer({ pre_action: decide, post_action: decide });
    const agent = RawAgent.connect(server);
    for (const [method, params] of [
      ["ahp/event", event("pre_action")],
      ["ahp/batch", { events: [event("pre_action")] }],
      ["ahp/query", { session_id: "s", agent_id: "a", query_type: "t", payload: null }],
    ] as const) {
      const { error } = await agent.call(method, params);
      expect(error).toMatchObject({ code: -32600, data: { reason: "handshake_required" } });
    }
    await agent.tell(event("post_action"));
    await agent.settled();
    expect(asked).toBe(0);
    expect(server.stats().refusedNotifications).toBe(1);
    expect((await agent.call("nothing")).error?.code).toBe(-32601);
  });

  it("leaves the connection open and the former handshake in force when it is refused", async () => {
    const seen: string[] = [];
    const { server } = startServer({
      pre_action: (_event, { handshake: { agent_id } }) => {
        seen.push(agent_id);
        return { decision: "allow" };
      },
    });
    const agent = RawAgent.connect(server);
    expect((await agent.call("ahp/handshake", handshake({ protocol_version: "3" }))).error?.code).toBe(
      -32000,
    );
    expect((await agent.call("ahp/event", event("pre_action"))).error?.data.reason).toBe(
      "handshake_required",
    );
    await agent.call("ahp/handshake", handshake({ agent_id: "first" }));
    await agent.call("ahp/handshake", handshake({ agent_id: "second" }));
    expect((await agent.call("ahp/handshake", handshake({ protocol_version: "1" }))).error?.code).toBe(
      -32000,
    );
    expect((await agent.call("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
    expect(seen).toEqual(["second"]);
  });

  it("holds for every session on it", async () => {
    const { server } = startServer(allowing);
    const agent = await RawAgent.ready(server);
    const other = event("pre_action", { session_id: "another", agent_id: "child" });
    expect((await agent.call("ahp/event", other)).result).toEqual({ decision: "allow" });
  });

  it("is known by its own connection only", async () => {
    const { server } = startServer(allowing);
    await RawAgent.ready(server);
    const { error } = await RawAgent.connect(server).call("ahp/event", event("pre_action"));
    expect(error?.data.reason).toBe("handshake_required");
  });
});

describe("params", () => {
  it.each([
    ["none", undefined],
    ["null", null],
    ["a text", "text"],
    ["an array", []],
    ["no agent_info", { protocol_version: "2.4", session_id: "s", agent_id: "a" }],
    ["an agent_info that is null", handshake({ agent_info: null })],
    ["a number as session", handshake({ session_id: 7 })],
  ])("that do not fit are -32602: %s", async (_name, params) => {
    const { server } = startServer();
    const { error } = await RawAgent.connect(server).call("ahp/handshake", params);
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_params" } });
  });

  it("are bounded, because they are kept", async () => {
    const { shake, server } = startServer();
    const long = await shake({ session_id: "s".repeat(513) });
    expect(long.error).toMatchObject({ code: -32602, data: { reason: "id_too_long", limit: 512 } });
    const info = { framework: "f", version: "1", capabilities: Array.from({ length: 9000 }, () => "a") };
    const large = await shake({ agent_info: info });
    expect(large.error).toMatchObject({
      code: -32602,
      data: { reason: "handshake_too_long", limit: 16_384 },
    });
    expect(server.stats().sessions).toBe(0);
  });

  it("cannot come as a notification", async () => {
    const { server, post } = startServer();
    const reply = await post({ jsonrpc: "2.0", method: "ahp/handshake", params: handshake() });
    expect(reply?.error).toMatchObject({ code: -32602, data: { reason: "request_expected" } });
    expect(server.stats().handshakes).toBe(0);
  });
});

describe("options", () => {
  it.each([
    [{ limits: { batchSize: 0 } }],
    [{ limits: { maxDepth: -1 } }],
    [{ limits: { timeoutMs: 1.5 } }],
    [{ limits: { maxRuns: Number.NaN } }],
    [{ handlerTimeoutMs: 0 }],
    [{ handlerTimeoutMs: 2000, limits: { timeoutMs: 1000 } }],
  ])("under which nothing could work are refused: %j", (options) => {
    let thrown: unknown;
    try {
      createAhpServer({ handlers: {}, name: "n", version: "1", ...options });
    } catch (error) {
      thrown = error;
    }
    expect(HarnessError.isInstance(thrown) && thrown.code).toBe("invalid_argument");
  });
});
