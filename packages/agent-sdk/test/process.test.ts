import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createUnixListener } from "@harnesskit/transport-uds";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { type CoreOptions, ScriptedCore, startProcess, temporaryDirectory, token } from "./support.ts";

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));
const { HARNESS_AGENT_SOCKET: _socket, HARNESS_SESSION_TOKEN: _token, ...ownEnv } = process.env;

const startAgent = (path: string, options: object = {}, env: object = {}) =>
  startProcess([fixture("agent"), bundle, JSON.stringify(options)], {
    env: { ...ownEnv, HARNESS_AGENT_SOCKET: path, HARNESS_SESSION_TOKEN: token, ...env },
  });

/** A core that listens, and the connections that came. */
const listening = async (options: CoreOptions = {}) => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "s");
  const listener = createUnixListener({ path });
  const cores: ScriptedCore[] = [];
  let connected = createDeferred<ScriptedCore>();
  await listener.listen((channel) => {
    const core = new ScriptedCore(channel, options);
    cores.push(core);
    connected.resolve(core);
    connected = createDeferred();
  });
  return {
    path,
    directory: directory.path,
    cores,
    listener,
    next: () => connected.promise,
    async [Symbol.asyncDispose]() {
      await listener.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

const lines = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("a tool process", () => {
  it("has the token in no environment, output or message but its hello", async () => {
    await using core = await listening();
    const connecting = core.next();
    await using agent = startAgent(core.path);
    const side = await connecting;
    await side.type("agent.tools.register");
    const { output } = (await side.result(side.call("environment"))).payload;
    expect(output.own).not.toContain("HARNESS_SESSION_TOKEN");
    for (const environment of [output.own, output.child, output.files]) {
      expect(environment).toContain("HARNESS_AGENT_SOCKET");
    }
    await side.result(side.call("stray-timer"));
    await side.result(side.call("stray-after"));
    await expect.poll(() => agent.output.stderr, { timeout: 10_000 }).toContain("after the end");
    agent.child.kill("SIGTERM");
    await agent.exit;
    expect(JSON.stringify(side.seen.slice(1))).not.toContain(token);
    expect(agent.output.stdout + agent.output.stderr).not.toContain(token);
  });

  it("outlives what its tools leave behind; only their own calls fail", async () => {
    await using core = await listening();
    const connecting = core.next();
    await using agent = startAgent(core.path);
    const side = await connecting;
    await side.type("agent.tools.register");
    const bystander = side.call("wait");
    await side.until(({ type }) => type === "agent.tool.stream");
    for (const name of ["stray-timer", "stray-promise"]) {
      const { payload } = await side.result(side.call(name));
      expect(payload.status).toBe("failed");
      expect(payload.error).toEqual({ code: "tool.failed", message: "the tool failed", where: "agent.tool" });
    }
    expect((await side.result(side.call("stray-after"))).payload.status).toBe("succeeded");
    await expect.poll(() => agent.output.stderr, { timeout: 10_000 }).toContain("after the end");
    expect((await side.result(side.call("pid"))).payload.output).toEqual({ pid: agent.child.pid });
    expect(side.results(bystander)).toEqual([]);
    expect(agent.output.stderr.split("\n")).toMatchObject([
      expect.stringMatching(
        /^agent com\.example\.agent: tool_failed: tool stray-timer .*: TypeError: from a timer$/,
      ),
      expect.stringMatching(/tool stray-promise .*: TypeError: from a promise$/),
      expect.stringMatching(/stray_failure: tool stray-after .*: TypeError: after the end$/),
      "",
    ]);
    side.send("core.goodbye", { reason: "done" });
    await side.channel.close();
    expect(await agent.exit).toEqual([0, null]);
  });

  it("whose core is killed cleans up and ends, also with a tool that does not", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    await using core = startProcess([fixture("core"), bundle, path]);
    await expect.poll(() => core.output.stdout, { timeout: 10_000 }).toBe("listening\n");
    await using agent = startAgent(path, { run: { exitGraceMs: 100 } });
    await expect.poll(() => core.output.stdout, { timeout: 10_000 }).toContain("running");
    core.child.kill("SIGKILL");
    await core.exit;
    expect(await agent.exit).toEqual([1, null]);
    expect(lines(agent.output.stdout)).toEqual([{ cleaned: "connection_closed" }, { reason: "core_gone" }]);
  });

  it("ends its calls and itself at SIGTERM", async () => {
    await using core = await listening();
    const connecting = core.next();
    await using agent = startAgent(core.path, { run: { exitGraceMs: 100 } });
    const side = await connecting;
    await side.type("agent.tools.register");
    const [deaf, wait] = [side.call("deaf"), side.call("wait")];
    await side.until(({ type }) => type === "agent.tool.stream");
    agent.child.kill("SIGTERM");
    for (const id of [deaf, wait]) {
      expect((await side.result(id)).payload).toMatchObject({
        status: "failed",
        error: { code: "agent.lost" },
      });
    }
    expect(await agent.exit).toEqual([0, null]);
    expect(lines(agent.output.stdout)).toEqual([
      { cleaned: "agent_stopping" },
      { reason: "signal", signal: "SIGTERM" },
    ]);
  });

  it("comes back when the core asks for it, with the same token", async () => {
    await using core = await listening();
    const first = core.next();
    await using agent = startAgent(core.path);
    const before = await first;
    await before.type("agent.tools.register");
    const second = core.next();
    before.send("core.goodbye", { reason: "restart", retry_after_ms: 10 });
    await before.channel.close();
    const after = await second;
    expect((await after.type("agent.hello")).payload.session_token).toBe(token);
    await after.type("agent.tools.register");
    expect((await after.result(after.call("pid"))).payload.output).toEqual({ pid: agent.child.pid });
    after.send("core.goodbye", { reason: "restart", retry_after_ms: 10_000_000 });
    await after.channel.close();
    expect(await agent.exit).toEqual([0, null]);
    expect(core.cores).toHaveLength(2);
  });

  it("gives up when the core that it was to come back to stays away", async () => {
    await using core = await listening();
    const connecting = core.next();
    await using agent = startAgent(core.path, { run: { reconnect: { maxAttempts: 2 } } });
    const side = await connecting;
    await side.type("agent.tools.register");
    side.send("core.goodbye", { reason: "restart", retry_after_ms: 1 });
    await core.listener.close();
    expect(await agent.exit).toEqual([1, null]);
    expect(lines(agent.output.stdout)).toEqual([{ reason: "core_gone", code: "transport_failed" }]);
  });

  it("that is refused, or finds no core, fails with the reason", async () => {
    await using core = await listening({ isSilent: true });
    const connecting = core.next();
    await using agent = startAgent(core.path);
    const side = await connecting;
    await side.type("agent.hello");
    side.send("core.welcome", {}, { error: { code: "protocol.unauthorized", message: "no" } });
    expect(await agent.exit).toEqual([1, null]);
    expect(lines(agent.output.stdout)).toMatchObject([{ failed: "protocol.unauthorized" }]);

    await using nobody = startAgent(join(core.directory, "none"));
    expect(await nobody.exit).toEqual([1, null]);
    expect(lines(nobody.output.stdout)).toMatchObject([{ failed: "transport_failed" }]);
  });

  it("that no core started says so", async () => {
    await using agent = startProcess([fixture("agent"), bundle], { env: ownEnv });
    expect(await agent.exit).toEqual([1, null]);
    expect(lines(agent.output.stdout)).toMatchObject([
      {
        failed: "missing_environment",
        message: expect.stringMatching(/HARNESS_AGENT_SOCKET and HARNESS_SESSION_TOKEN .* started by a core/),
      },
    ]);
  });
});
