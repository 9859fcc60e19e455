import { type AhpEventType, ahpEvents, defaultHarnessCapabilities } from "@harnesskit/protocol/ahp";
import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createAhpServer } from "../src/index.ts";
import { event } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

describe("the answer", () => {
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

  it.each([
    [{ pre_action: "block" }, "handlers.pre_action"],
    [{ preAction() {} }, "handlers.preAction"],
    ["block", "handlers"],
  ])("name the handler that could never run: %o", (handlers, named) => {
    const create = () => createAhpServer({ handlers: handlers as object, name: "n", version: "1" });
    const message = expect.stringContaining(`createAhpServer: ${named} `) as string;
    expect(create).toThrow(expect.objectContaining({ code: "invalid_argument", message }));
  });

  it("take handlers that are the methods of an object with a state of its own", () => {
    class Policy {
      readonly rules = ["none"];
      pre_action() {
        return { decision: "allow" as const };
      }
    }
    expect(() => createAhpServer({ handlers: new Policy(), name: "n", version: "1" })).not.toThrow();
  });
});
