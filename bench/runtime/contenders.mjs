import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openFileAuditSink } from "@harnesskit/audit/node";
import { startCore } from "@harnesskit/core-runtime";
import rpc from "vscode-jsonrpc/node";
import { startMcp } from "../stdio/contenders.mjs";
import { frames } from "./limit-frames.mjs";
import { callMessage } from "./messages.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const spawnAgent = (name, path) =>
  spawn(process.execPath, ["--disable-warning=MaxListenersExceededWarning", here("./agent.mjs"), name], {
    stdio: "inherit",
    env: { ...process.env, BENCH_SOCKET: path },
  });

/** Listens, starts the other end, and gives its socket. */
const socketOf = async (name, directory) => {
  const path = join(directory, `${name}.sock`);
  const server = createServer().listen(path);
  await once(server, "listening");
  const child = spawnAgent(name, path);
  const [socket] = await once(server, "connection");
  const close = async () => {
    socket.destroy();
    child.kill();
    server.close();
    await once(child, "exit");
  };
  return { socket, close };
};

/** Calls by their ids, which are as long as a core's. */
const pendingCalls = (send) => {
  const pending = new Map();
  const prefix = randomUUID().slice(0, 24);
  let last = 0;
  const call = (input) =>
    new Promise((resolve) => {
      const id = prefix + (++last).toString(16).padStart(12, "0");
      pending.set(id, resolve);
      send(callMessage(id, input));
    });
  const settle = ({ payload }) => {
    pending.get(payload.call_id)(payload.output);
    pending.delete(payload.call_id);
  };
  return { call, settle };
};

const startLimit = async (directory) => {
  const { socket, close } = await socketOf("limit", directory);
  const { call, settle } = pendingCalls((message) => send(message));
  const send = frames(socket, settle);
  return { call, close };
};

const startHarness = async (directory) => {
  const audit = await openFileAuditSink({ path: join(directory, "audit.jsonl") });
  const core = await startCore({ agents: [here("./echo-agent")], audit });
  await core.ready();
  return {
    call: async (input) => (await core.call("com.example.echo/echo", input).result).output,
    close: async () => {
      await core.close();
      await audit.close();
    },
  };
};

const startVscode = async (directory) => {
  const { socket, close } = await socketOf("vscode", directory);
  const connection = rpc.createMessageConnection(
    new rpc.SocketMessageReader(socket),
    new rpc.SocketMessageWriter(socket),
  );
  connection.listen();
  return { call: (input) => connection.sendRequest("echo", input), close };
};

export const contenders = [
  { name: "limit", start: startLimit },
  { name: "core.call", start: startHarness },
  { name: "vscode-jsonrpc", start: startVscode },
  { name: "MCP SDK (stdio)", start: startMcp },
];
