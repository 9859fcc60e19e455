import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echoTool, launchOf, openCore, ScriptedAgent, silentObserver } from "./support/scripted-agent.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "hk-core-"));
});

afterEach(() => rm(directory, { recursive: true }));

describe("a core on sockets", () => {
  it("serves several agents on a Unix socket", async () => {
    const core = openCore();
    const path = join(directory, "core.sock");
    const unix = createUnixListener({ path });
    await unix.listen((channel) => core.connect(channel));
    const transport = createUnixTransport({ path });
    for (const agentId of ["agent-0", "agent-1"]) {
      const { token } = core.admit(launchOf(agentId), silentObserver);
      const agent = new ScriptedAgent(await transport.connect(), agentId);
      await agent.connect(token);
      await agent.register([echoTool(agentId)]);
      agent.onMessage = (message) => {
        if (message.type === "core.tool.call") agent.succeed(message, { said: message.payload.input.text });
      };
      const texts = Array.from({ length: 500 }, (_, n) => `${n} \u{1f680}`);
      const results = await Promise.all(texts.map((text) => core.call(`${agentId}/echo`, { text }).result));
      expect(results).toEqual(texts.map((said) => ({ status: "succeeded", output: { said } })));
    }
    expect(core.agents()).toHaveLength(2);
    await core.close();
    await unix.close();
  });

  it("reads no frame of four gigabytes, and ends calls when a process is gone", async () => {
    const core = openCore();
    const path = join(directory, "core.sock");
    const listener = createUnixListener({ path });
    await listener.listen((channel) => core.connect(channel));
    const hostile = connectSocket(path);
    hostile.write(new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x7b]));
    const answer: Buffer[] = [];
    hostile.on("data", (chunk: Buffer) => answer.push(chunk));
    await once(hostile, "end");
    expect(Buffer.concat(answer).toString("utf8")).toContain("protocol.frame_too_large");
    hostile.destroy();

    const { token } = core.admit(launchOf("demo.agent"), silentObserver);
    const agent = new ScriptedAgent(await createUnixTransport({ path }).connect(), "demo.agent");
    await agent.connect(token);
    await agent.register([echoTool()]);
    const call = core.call("demo.agent/echo", { text: "" });
    await agent.next("core.tool.call");
    await agent.channel.close();
    expect(await call.result).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
    await core.close();
    await listener.close();
  });
});
