import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../../../test-kit/test-kit.ts";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { binPath, eventually } from "./support/harness.ts";

const everything = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

const hostile = fileURLToPath(
  new URL("../../../packages/guard/test/fixtures/hostile-mcp-server.mjs", import.meta.url),
);

/** The SDK's client, which starts the proxy as the command of its server. */
const connect = (machine: GuardedMachine, ...options: string[]) =>
  connectTo(machine, [...options, "--", process.execPath, everything]);

const connectTo = async (machine: GuardedMachine, words: readonly string[]) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [binPath, "guard", "mcp", ...words],
    env: { PATH: process.env.PATH ?? "", ...machine.env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, stderr: () => stderr };
};

const echo = (message: string) => ({ name: "echo", arguments: { message } });

const allowsAll = `version: 1
name: all
defaults: { gate: allow }
rules: []
`;

describe("harness guard mcp", () => {
  it("refuses calls without the hub; with it a call waits in the inbox, is made once, and one that is cancelled is withdrawn", async () => {
    const machine = await GuardedMachine.create();
    const { client, stderr } = await connect(machine, "--name", "every");
    expect((await client.listTools()).tools.length).toBeGreaterThan(8);
    const refused = await client.callTool(echo("early"));
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused)).toContain("the harness gave no decision");
    expect(stderr()).toContain("start it: harness hub");

    await machine.startHub();
    const hub = await machine.client();
    const waiting = client.callTool(echo("hi"));
    const record = await machine.pending(hub);
    expect(record.subject).toMatchObject({ tool: "mcp__every__echo", input: { message: "hi" } });
    await hub.call("inbox.answer", { id: record.id, digest: record.digest, decision: "approve" } as never);
    expect(await waiting).toMatchObject({ content: [{ text: "Echo: hi" }] });

    const abort = new AbortController();
    const given = client.callTool(echo("never mind"), undefined, { signal: abort.signal });
    const failed = expect(given).rejects.toThrow();
    const { id } = await machine.pending(hub);
    abort.abort();
    await failed;
    await eventually(async () => {
      const { records } = await hub.call("inbox.list", {});
      expect(records.find((one) => one.id === id)).toMatchObject({ status: "withdrawn" });
    });
  });

  it("stands before a server on Streamable HTTP", async () => {
    const machine = await GuardedMachine.create(allowsAll);
    await machine.startHub();
    const port = await freePort();
    const server = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    let said = "";
    server.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await eventually(() => expect(said).toContain("listening"));
    const { client, stderr } = await connectTo(machine, ["--url", `http://127.0.0.1:${port}/mcp`]);
    expect((await client.listTools()).tools.length).toBeGreaterThan(8);
    expect(await client.callTool(echo("over HTTP"))).toMatchObject({
      content: [{ text: "Echo: over HTTP" }],
    });
    const steps: unknown[] = [];
    const long = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } };
    await client.callTool(long, undefined, { onprogress: ({ progress }) => steps.push(progress) });
    expect(steps).toContain(1);
    await expect(client.readResource({ uri: "no://such" })).rejects.toMatchObject({ code: -32602 });
    server.kill("SIGKILL");
    await expect(client.callTool(echo("late"))).rejects.toThrow("the MCP server cannot be reached");
    expect(stderr()).not.toContain("at ");
  });

  it("asks in the inbox about a tool that has changed, shows the change, and offers it once it is approved", async () => {
    const machine = await GuardedMachine.create(allowsAll);
    await machine.startHub();
    const hub = await machine.client();
    const { client } = await connectTo(machine, ["--name", "srv", "--", process.execPath, hostile]);
    const changed = vi.fn();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    await client.listTools();
    await client.callTool({ name: "change", arguments: {} });
    const ok = () => client.callTool({ name: "ok", arguments: {} });
    expect(await ok()).toMatchObject({ isError: true });
    // No default of a policy answers it.
    const { id, digest, subject } = await machine.pending(hub);
    expect(subject.tool).toBe("confirmation");
    expect(subject.input.message).toMatch(/The tool ok, otherwise than it was accepted \(sha256:/);
    expect(subject.input.message).toMatch(/\naccepted: .*The tool ok.*\ndeclared: .*Send all secrets/);
    const diff = await machine.harness("guard", "tools");
    expect(diff.stdout).toContain("ok of srv");
    expect(diff.stdout).toMatch(/^-.*"description": "The tool ok"/m);
    expect(diff.stdout).toMatch(/^\+.*"description": /m);
    expect(diff.stdout).toMatch(/accept it: harness guard tools --accept sha256:[0-9a-f]{64}/);
    const listed = JSON.parse((await machine.harness("guard", "tools", "--json")).stdout);
    expect(listed.waiting).toMatchObject([{ server: "srv", tool: "ok", accepted: { name: "ok" } }]);
    changed.mockClear();
    await hub.call("inbox.answer", { id, digest, decision: "approve" } as never);
    await eventually(() => expect(changed).toHaveBeenCalled());
    expect(await ok()).toMatchObject({ content: [{ text: "{}" }] });
    expect((await machine.harness("guard", "tools")).stdout).toBe("No tools are waiting for review.\n");
  });
});
