import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type RunningCore, startCore } from "@harnesskit/core-runtime";
import { afterAll, describe, expect, it, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { freePort, killProcess, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createMcpAgentDirectory, type McpServer, readMcpTools } from "../src/index.ts";
import { call, hostile, serve, serverPrograms } from "./support/serve.ts";

const everything = (...args: string[]): McpServer => ({
  command: [process.execPath, serverPrograms.everything, ...args],
});

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

/** A core that launched a generated directory. */
const launch = async (server: McpServer, environment: NodeJS.ProcessEnv = process.env) => {
  const directory = await temporaryDirectory();
  const command: [string, string] = [process.execPath, bundle];
  const path = join(directory.path, "agent");
  await createMcpAgentDirectory({ directory: path, id: "mcp.test", server, command });
  const output: string[] = [];
  const core: RunningCore = await startCore({
    socketDirectory: directory.path,
    environment,
    authorize: () => ({ allowed: true }),
    onOutput: ({ line }) => output.push(line),
    stopGraceMs: 1000,
  });
  const launched = core.launch(path);
  await launched.catch(() => {});
  return {
    core,
    launched,
    output,
    path,
    async [Symbol.asyncDispose]() {
      await core.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

describe("server-everything on stdio, behind a core", () => {
  it("is launched from a generated directory, and does what it can", async () => {
    await using agent = await launch(everything());
    const { core } = agent;
    expect((await agent.launched).toolIds.length).toBeGreaterThan(8);
    expect(await call(core, "echo", { message: "hi" })).toMatchObject({
      output: { content: [{ type: "text", text: "Echo: hi" }] },
    });
    expect(await call(core, "get-structured-content", { location: "Chicago" })).toMatchObject({
      output: { structuredContent: { conditions: expect.any(String) } },
    });
    expect(await call(core, "get-tiny-image")).toMatchObject({
      output: {
        content: expect.arrayContaining([expect.objectContaining({ type: "image", mimeType: "image/png" })]),
      },
    });
    expect(await call(core, "get-sum", { a: "one" })).toMatchObject({
      error: { code: "tool.invalid_input" },
    });
    const operation = core.call("mcp.test/trigger-long-running-operation", { duration: 0.2, steps: 2 });
    const progress: unknown[] = [];
    for await (const { data } of operation.stream) progress.push(data);
    expect(progress[0]).toEqual({ text: "1/2" });
    expect(await operation.result).toMatchObject({ status: "succeeded" });
    const manifest: unknown = JSON.parse(
      await readFile(join(agent.path, "opensentience.agent.json"), "utf8"),
    );
    expect(manifest).toMatchObject({
      permissions: ["mcp.destroy", "mcp.open_world", "mcp.read", "mcp.write"],
    });
  });

  it("gives the server the variables that it names and no other, and keeps them out of the output", async () => {
    const environment = {
      ...process.env,
      MCP_TEST_SECRET: "hush-hush-4711",
      OTHER_SECRET: "never-seen-0815",
    };
    await using agent = await launch({ ...everything(), env: ["MCP_TEST_SECRET"] } as McpServer, environment);
    const result = JSON.stringify(await call(agent.core, "get-env"));
    expect(result).toContain('MCP_TEST_SECRET\\": \\"[redacted]');
    expect(result).not.toMatch(/OTHER_SECRET|HARNESS_SESSION_TOKEN|hush-hush/);
  });
});

it("the program of an MCP server does not outlive its agent, whatever ends it", async () => {
  const marker = `stubborn-${process.pid}-${Date.now()}`;
  const processes = () => spawnSync("ps", ["-eo", "args="], { encoding: "utf8" }).stdout.split("\n");
  const servers = () =>
    processes().filter((line) => line.includes(marker) && line.includes("hostile-server"));
  const { command } = hostile("stubborn", marker);
  await using agent = await launch({ command });
  const { pid } = await agent.launched;
  expect(servers()).toHaveLength(1);
  killProcess(pid);
  await vi.waitFor(() => expect(agent.core.launched()[0]).toMatchObject({ state: "ready", restarts: 1 }));
  await vi.waitFor(() => expect(servers()).toHaveLength(1));
  await agent.core.close();
  await vi.waitFor(() => expect(servers()).toHaveLength(0));
});

it("server-filesystem on stdio tells what reads from what writes, and keeps to its directory", async () => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "a.txt"), "first\n");
  const server: McpServer = {
    command: [process.execPath, serverPrograms.filesystem, "."],
    cwd: directory.path,
  };
  await using served = await serve({ server });
  const effects = Object.fromEntries(
    served.core.tools().map(({ name, side_effects: effect }) => [name, effect]),
  );
  expect(effects).toMatchObject({
    read_text_file: false,
    write_file: true,
    list_directory: false,
    move_file: true,
  });
  const path = join(directory.path, "b.txt");
  expect(await call(served.core, "write_file", { path, content: "second" })).toMatchObject({
    status: "succeeded",
  });
  expect(await readFile(path, "utf8")).toBe("second");
  expect(await call(served.core, "read_text_file", { path: "/etc/passwd" })).toMatchObject({
    error: { code: "mcp.tool_failed", message: expect.stringContaining("denied") },
  });
});

describe("server-everything over Streamable HTTP", () => {
  const servers: ChildProcess[] = [];
  afterAll(() => {
    for (const server of servers) server.kill("SIGKILL");
  });

  const startServer = async (port: number) => {
    const args = [serverPrograms.everything, "streamableHttp"];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    servers.push(child);
    let log = "";
    child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
    await vi.waitFor(() => expect(log).toContain("listening"));
    return child;
  };

  it("calls tools with progress, and survives a kill -9 of the server without repeating a call", async () => {
    const port = await freePort();
    const server = await startServer(port);
    await using served = await serve({ server: { url: `http://127.0.0.1:${port}/mcp` } });
    const { core, health } = served;
    expect(await call(core, "echo", { message: "hi" })).toMatchObject({
      output: { content: [{ text: "Echo: hi" }] },
    });
    const operation = core.call("mcp.test/trigger-long-running-operation", { duration: 60, steps: 600 });
    for await (const { channel } of operation.stream) {
      expect(channel).toBe("status");
      server.kill("SIGKILL");
      break;
    }
    expect(await operation.result).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
    await vi.waitFor(() => expect(health.at(-1)).toBe("degraded"));
    expect(await call(core, "echo", { message: "hi" })).toMatchObject({
      error: { code: "agent.unavailable" },
    });
    await startServer(port);
    await vi.waitFor(() => expect(health.at(-1)).toBe("ok"));
    expect(await call(core, "echo", { message: "back" })).toMatchObject({ status: "succeeded" });
  });

  it("sends headers from the environment, and names neither them nor other hosts", async () => {
    const port = await freePort();
    await startServer(port);
    const seen: (string | undefined)[] = [];
    const front = createServer((message, response) => {
      seen.push(message.headers.authorization);
      if (message.headers.authorization !== "Bearer hush-hush-4711") {
        response.writeHead(401).end("no: hush-hush-4711");
        return;
      }
      const { method, url, headers } = message;
      const upstream = request({ port, host: "127.0.0.1", method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      upstream.on("error", () => response.destroy());
      message.pipe(upstream);
    }).listen(0, "127.0.0.1");
    await once(front, "listening");
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
    const server: McpServer = { url, headers: { authorization: "MCP_AUTH" } };
    try {
      const { tools } = await readMcpTools({ server, env: { MCP_AUTH: "Bearer hush-hush-4711" } });
      expect(tools.length).toBeGreaterThan(8);
      const refused = readMcpTools({ server, env: { MCP_AUTH: "Bearer wrong-token" } });
      await expect(refused).rejects.toMatchObject({
        code: "mcp.server_refused",
        message: expect.not.stringContaining("wrong-token"),
      });
      expect(new Set(seen)).toEqual(new Set(["Bearer hush-hush-4711", "Bearer wrong-token"]));
    } finally {
      front.closeAllConnections();
      front.close();
    }
  });
});
