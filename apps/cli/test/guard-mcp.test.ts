import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { binPath } from "./support/harness.ts";

const everything = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
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
    await vi.waitFor(async () => {
      const { records } = await hub.call("inbox.list", {});
      expect(records.find((one) => one.id === id)).toMatchObject({ status: "withdrawn" });
    });
  });

  it("says what is wrong with its options, and lists the tools that wait", async () => {
    const machine = await GuardedMachine.create();
    expect(await machine.harness("guard", "mcp")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Name the MCP server"),
    });
    expect(await machine.harness("guard", "mcp", "--name", "a__b", "--", "x")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not a name"),
    });
    expect(await machine.harness("guard", "mcp", "--", "/no/such/server")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("was not found"),
    });
    expect(await machine.harness("guard", "tools")).toMatchObject({
      code: 0,
      stdout: "No tool waits to be accepted.\n",
    });
    expect(await machine.harness("guard", "tools", "--accept", "sha256:0")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no tool with the digest sha256:0 waits"),
    });
  });
});
