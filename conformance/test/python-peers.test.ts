import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { startCore } from "@harnesskit/core-runtime";
import { createShellClient } from "@harnesskit/shell-client";
import { createThreadClient } from "@harnesskit/thread-client";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../test-kit/nightly.ts";
import { needPython } from "../../test-kit/python.ts";
import { sourceBundle } from "../../test-kit/source-bundle.ts";
import { temporaryDirectory } from "../../test-kit/test-kit.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { createLineDriver } from "../src/target/driver.ts";
import { startProcess } from "../src/target/target-process.ts";
import { expectHolds, patient } from "./support.ts";
import { startShellEngine } from "./targets/shell-engine.ts";

const peer = (name: string): string => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));

describe("a peer in Python, written from the specification, conforms", () => {
  const peers = [
    ["ahp-server", "ahp_harness.py", "stdio", "http"],
    ["ahp-client", "ahp_agent.py", "stdio", "http"],
    ["threads-server", "thread_server.py", "stdio"],
    ["threads-client", "thread_client.py", "unix"],
    ["runtime-core", "runtime_core.py", "unix"],
    ["runtime-agent", "runtime_agent.py", "unix"],
    ["openharness-engine", "openharness_engine.py", "stdio", "http"],
    ["openharness-shell", "openharness_shell.py", "stdio", "http"],
    ["chat", "chat_adapter.py", "stdio"],
  ] as const;
  const cases = peers.flatMap(([suite, file, ...transports]) =>
    transports.slice(0, isNightly ? undefined : 1).map((transport) => ({ suite, file, transport })),
  );

  it.for(cases)("$suite by $file over $transport", async ({ suite, file, transport }, context) => {
    needPython(context);
    const target = { kind: "command", command: `exec python3 -SB '${peer(file)}'`, transport } as const;
    const report = await runSuite({ suite: loadSuite(suite), target, limits: patient });
    expectHolds(report);
  });
});

describe("our client works with the peer in Python", () => {
  it("decides by its harness", async (context) => {
    needPython(context);
    const transport = createChildTransport({ command: "python3", args: ["-SB", peer("ahp_harness.py")] });
    await using client = createAhpClient({ transport, framework: "test", version: "1.0.0" });
    await client.connect();
    const answer = { decision: "block", reason: "by the peer" };
    const verdict = await client.decide("pre_action", {}, { metadata: { conformance: { answer } } });
    expect(verdict).toMatchObject({ origin: "harness", decision: answer });
  });

  it("runs a turn of its thread server", async (context) => {
    needPython(context);
    await using folder = await temporaryDirectory();
    const args = ["-SB", peer("thread_server.py")];
    const transport = createChildTransport({ command: "python3", args, cwd: folder.path });
    await using client = createThreadClient({ transport, reconnect: false });
    await client.connect();
    const { threadId } = await client.createThread({});
    const input = JSON.stringify({ conformance: [{ run: "echo one" }, { say: "Done" }] });
    const turn = await client.startTurn({ threadId, input, onApproval: () => "once" });
    expect(await turn.result).toMatchObject({ status: "completed" });
  });

  it("carries out what its engine answers", async (context) => {
    needPython(context);
    await using folder = await temporaryDirectory();
    const args = ["-SB", peer("openharness_engine.py")];
    const engine = createChildTransport({ command: "python3", args, cwd: folder.path });
    const shown: unknown[] = [];
    await using shell = createShellClient({
      engine,
      executors: { render_message: ({ payload }) => shown.push(payload?.message) },
    });
    const directives = [{ action_type: "render_message", payload: { text: "hello" } }];
    const outcome = await shell.send({ extensions: { "dev.harnesskit.conformance": { directives } } });
    expect(outcome).toMatchObject({ status: "success" });
    expect(shown).toEqual(["hello"]);
  });
});

describe("our engine works with the peer in Python", () => {
  it("answers its shell", async (context) => {
    needPython(context);
    await using folder = await temporaryDirectory();
    const place = { endpoint: `unix:${join(folder.path, "engine.sock")}`, token: "", directory: folder.path };
    const engine = await startShellEngine(place);
    const env = { ...process.env, CONFORMANCE_ENDPOINT: place.endpoint, CONFORMANCE_TOKEN: "" };
    const shell = spawn("python3", ["-SB", peer("openharness_shell.py")], { env });
    const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
    shell.stdin.write(`${JSON.stringify({ id: 1, do: "send", params: { intent: "hello" } })}\n`);
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: 1, result: { status: "success" } });
    shell.stdin.end();
    await once(shell, "close");
    await engine.close();
  });
});

describe("our runtime works with the peers in Python", () => {
  it("calls the tools of the agent that our core has started", async (context) => {
    needPython(context);
    await using folder = await temporaryDirectory();
    const manifest = {
      id: "conformance.agent",
      version: "1.0.0",
      command: ["python3", "-SB", peer("runtime_agent.py")],
    };
    await writeFile(join(folder.path, "opensentience.agent.json"), JSON.stringify(manifest));
    await using core = await startCore({ agents: [folder.path] });
    await core.ready();
    const called = core.call("conformance.agent/echo", { text: "Grüße" });
    expect(await called.result).toMatchObject({ status: "succeeded", output: { text: "Grüße" } });
    const refused = core.call("conformance.agent/act", { steps: [{ fail: "peer.failed" }] });
    expect(await refused.result).toMatchObject({ status: "failed", error: { code: "peer.failed" } });
  });

  it("serves the core that has started our agent", async (context) => {
    needPython(context);
    await using folder = await temporaryDirectory();
    const peers = await sourceBundle(new URL("./programs/peers.ts", import.meta.url));
    const command = `exec python3 -SB '${peer("runtime_core.py")}'`;
    const place = { endpoint: `unix:${join(folder.path, "core.sock")}`, token: "", directory: folder.path };
    const target = startProcess(command, place, { stopTimeoutMs: 2000, maxLogBytes: 10_000 });
    try {
      const { stdout, stdin } = target.child;
      const core = createLineDriver(stdout, stdin, target.exited);
      await core.do("listen", {});
      const agent = {
        agent_id: "conformance.agent",
        command: [process.execPath, peers, "launched-agent"],
      };
      expect(await core.do("launch", agent)).toMatchObject({ result: { token: "HARNESS_SESSION_TOKEN" } });
      const tool = "conformance.agent/echo";
      const hasTool = async (): Promise<boolean> => JSON.stringify(await core.do("tools", {})).includes(tool);
      await expect.poll(hasTool, { timeout: 30_000 }).toBe(true);
      const called = await core.do("call", { name: "one", tool_id: tool, input: { text: "Grüße" } });
      expect(called).toMatchObject({ result: { status: "succeeded", output: { text: "Grüße" } } });
    } finally {
      await target.stop();
    }
  });
});
