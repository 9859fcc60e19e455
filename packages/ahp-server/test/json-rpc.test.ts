import { InvalidMessageError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { RawAgent } from "./support/agent.ts";
import { event } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

describe("what is not a request or notification", () => {
  it("may be too large: -32600, and the connection goes on", async () => {
    const { server } = startServer({ pre_action: () => ({ decision: "allow" }) });
    const agent = await RawAgent.ready(server);
    agent.wire.writeRaw(`{"jsonrpc":"2.0","id":"big","method":"${"a".repeat(5_000_000)}"}\n`);
    expect((await agent.answer("")).error).toMatchObject({
      code: -32600,
      data: { reason: "message_too_large", max_frame_bytes: 4_194_304 },
    });
    expect((await agent.call("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
  });

  it("has the same answer for a transport that reads bodies", () => {
    const { server } = startServer();
    const fault = new InvalidMessageError("not_json", "no");
    expect(server.malformed(fault)).toMatchObject({ id: "", error: { code: -32700 } });
  });
});
