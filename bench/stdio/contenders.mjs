import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createPeer } from "@harnesskit/wire/rpc";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import rpc from "vscode-jsonrpc/node";
import * as z from "zod";
import { lines, pendingCalls } from "../lib/limit.mjs";

/** What is called with, and echoed: about as large as the start of a turn. */
const params = {
  threadId: "ses_0123456789abcdef0123456789abcdef",
  input: [{ type: "text", text: "Run the tests, then tell me which of them failed and why." }],
  model: { providerID: "anthropic", modelID: "claude-sonnet" },
  agent: "code",
};

const script = fileURLToPath(new URL("./server.mjs", import.meta.url));
const commandOf = (name) => ({
  command: process.execPath,
  args: ["--disable-warning=MaxListenersExceededWarning", script, name],
});

const spawnServer = (name) => {
  const child = spawn(process.execPath, [script, name], { stdio: ["pipe", "pipe", "inherit"] });
  const close = async () => {
    const gone = once(child, "exit");
    child.stdin.end();
    await gone;
  };
  return { child, close };
};

/** The machine's limit: JSON, a map of pending calls, one write a tick. No validation, no deadline, no error. */
const startLimit = async () => {
  const { child, close } = spawnServer("limit");
  const { settle, caller } = pendingCalls((id) => ({ jsonrpc: "2.0", id, method: "echo", params }));
  return { call: caller(lines(child.stdout, child.stdin, settle)), close };
};

const startHarness = async () => {
  const peer = createPeer(await createChildTransport(commandOf("harness")).connect());
  return { call: () => peer.request("echo", params), close: () => peer.close() };
};

const startVscode = async () => {
  const { child, close } = spawnServer("vscode");
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  connection.listen();
  return { call: () => connection.sendRequest("echo", params), close };
};

/** The MCP SDK; `call` takes what is echoed. */
export const startMcp = async () => {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport(commandOf("mcp")));
  const ResultSchema = z.looseObject({});
  return {
    call: (given) => client.request({ method: "echo", params: given }, ResultSchema),
    close: () => client.close(),
  };
};

export const contenders = [
  { name: "limit", start: startLimit },
  { name: "harnesskit", start: startHarness },
  { name: "vscode-jsonrpc", start: startVscode },
  {
    name: "MCP SDK",
    start: async () => {
      const { call, close } = await startMcp();
      return { call: () => call(params), close };
    },
  },
];
