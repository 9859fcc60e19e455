import { spawn } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createPeer } from "@harnesskit/wire/rpc";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import rpc from "vscode-jsonrpc/node";
import * as z from "zod";
import { params } from "./message.mjs";

const script = (name) => fileURLToPath(new URL(`./${name}-server.mjs`, import.meta.url));

const spawnServer = (name) => spawn(process.execPath, [script(name)], { stdio: ["pipe", "pipe", "inherit"] });

const ended = async (child) => {
  const gone = once(child, "exit");
  child.stdin.end();
  await gone;
};

/** The machine's limit: JSON, a map of pending calls, one write a tick. No validation, no deadline, no error. */
const startLimit = async () => {
  const child = spawnServer("limit");
  const decoder = new StringDecoder("utf8");
  const pending = new Map();
  let lastId = 0;
  let rest = "";
  let out = "";
  child.stdout.on("data", (chunk) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      pending.get(id)(result);
      pending.delete(id);
    }
  });
  const flush = () => {
    child.stdin.write(out);
    out = "";
  };
  const call = () =>
    new Promise((resolve) => {
      const id = ++lastId;
      pending.set(id, resolve);
      if (out === "") queueMicrotask(flush);
      out += `${JSON.stringify({ jsonrpc: "2.0", id, method: "echo", params })}\n`;
    });
  return { call, close: () => ended(child) };
};

const startHarness = async () => {
  const transport = createChildTransport({ command: process.execPath, args: [script("harness")] });
  const peer = createPeer(await transport.connect());
  return { call: () => peer.request("echo", params), close: () => peer.close() };
};

const startVscode = async () => {
  const child = spawnServer("vscode");
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  connection.listen();
  return { call: () => connection.sendRequest("echo", params), close: () => ended(child) };
};

const startMcp = async () => {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script("mcp")] }));
  const ResultSchema = z.looseObject({});
  return {
    call: () => client.request({ method: "echo", params }, ResultSchema),
    close: () => client.close(),
  };
};

export const contenders = [
  { name: "limit", start: startLimit },
  { name: "harnesskit", start: startHarness },
  { name: "vscode-jsonrpc", start: startVscode },
  { name: "MCP SDK", start: startMcp },
];
