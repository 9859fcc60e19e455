import { type AhpEventType, ahpEvents, defaultHarnessCapabilities } from "@harnesskit/protocol/ahp";
import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createAhpServer } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event, handshake } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const allowing = { pre_action: () => ({ decision: "allow" }) as const };

describe("the answer", () => {
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
});

describe("on a connection", () => {
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
  it("are bounded, because they are kept", async () => {
    const { shake, ask } = startServer();
    const long = await shake({ session_id: "s".repeat(513) });
    expect(long.error).toMatchObject({ code: -32602, data: { reason: "id_too_long", limit: 512 } });
    const info = { framework: "f", version: "1", capabilities: Array.from({ length: 9000 }, () => "a") };
    const large = await shake({ agent_info: info });
    expect(large.error).toMatchObject({
      code: -32602,
      data: { reason: "handshake_too_long", limit: 16_384 },
    });
    expect((await ask("ahp/event", event("pre_action"))).error?.data.reason).toBe("handshake_required");
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
