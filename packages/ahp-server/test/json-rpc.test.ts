import { InvalidMessageError } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RawAgent } from "./support/agent.ts";
import { event, notification, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const allowing = { pre_action: () => ({ decision: "allow" }) as const };

describe("what is no request or notification", () => {
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
