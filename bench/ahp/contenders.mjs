import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { WebSocket } from "ws";
import { lines, pendingCalls } from "../lib/limit.mjs";
import { requestOf } from "./messages.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const credentials = { bearer: "0123456789abcdef0123456789abcdef" };

/** Starts an end that listens; resolves with its port, or with the path of its socket. */
const forked = async (script, args) => {
  const child = fork(here(script), args);
  const [address] = await once(child, "message");
  const close = async () => {
    const gone = once(child, "exit");
    if (child.connected) child.disconnect();
    await gone;
  };
  return { address, close };
};

/** Ends this side first, then the other. */
const both = (first, second) => async () => {
  await first();
  await second();
};

const limits = {
  stdio: async () => {
    const child = spawn(process.execPath, [here("./limit-harness.mjs"), "stdio"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { settle, caller } = pendingCalls(requestOf);
    const call = caller(lines(child.stdout, child.stdin, settle));
    return {
      call,
      close: both(
        () => child.stdin.end(),
        () => once(child, "exit"),
      ),
    };
  },
  unix: async (directory) => {
    const path = join(directory, "limit.sock");
    const { close } = await forked("./limit-harness.mjs", ["unix", path]);
    const socket = connect(path);
    await once(socket, "connect");
    const { settle, caller } = pendingCalls(requestOf);
    return { call: caller(lines(socket, socket, settle)), close: both(() => socket.destroy(), close) };
  },
  http: async () => {
    const { address: port, close } = await forked("./limit-harness.mjs", ["http"]);
    const agent = new Agent({ keepAlive: true, maxSockets: 64 });
    let last = 0;
    const call = (payload) =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify(requestOf(++last, payload));
        const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
        request({ port, host: "127.0.0.1", method: "POST", path: "/ahp", agent, headers }, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () => resolve(JSON.parse(text).result));
        })
          .on("error", reject)
          .end(body);
      });
    return { call, close: both(() => agent.destroy(), close) };
  },
  ws: async () => {
    const { address: port, close } = await forked("./limit-harness.mjs", ["ws"]);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ahp`);
    await once(socket, "open");
    const { settle, caller } = pendingCalls(requestOf);
    socket.on("message", (data) => settle(JSON.parse(data.toString())));
    return {
      call: caller((message) => socket.send(JSON.stringify(message))),
      close: both(() => socket.terminate(), close),
    };
  },
};

const endpoints = {
  stdio: async (directory) => {
    const args = [here("./harness.mjs"), "stdio", directory];
    return {
      endpoint: { transport: createChildTransport({ command: process.execPath, args }) },
      close: () => {},
    };
  },
  unix: async (directory) => {
    const { address: path, close } = await forked("./harness.mjs", ["unix", directory]);
    return { endpoint: { transport: createUnixTransport({ path, framing: "newline" }) }, close };
  },
  http: async (directory) => {
    const { address: port, close } = await forked("./harness.mjs", ["http", directory]);
    const exchange = createHttpExchange({ url: `http://127.0.0.1:${port}/ahp`, credentials });
    return { endpoint: { exchange }, close: both(() => exchange.close(), close) };
  },
  ws: async (directory) => {
    const { address: port, close } = await forked("./harness.mjs", ["ws", directory]);
    const url = `ws://127.0.0.1:${port}/ahp`;
    return { endpoint: { transport: createWebSocketTransport({ url, credentials }) }, close };
  },
};

const allowed = (verdict) => {
  if (verdict.origin !== "harness" || verdict.decision.decision !== "allow") throw verdict.error;
  return verdict;
};

export const transports = Object.keys(limits);

export const contenders = transports.flatMap((transport) => [
  { name: `${transport} limit`, start: (directory) => limits[transport](directory) },
  {
    name: `${transport} harnesskit`,
    start: async (directory) => {
      const { endpoint, close } = await endpoints[transport](directory);
      const client = createAhpClient({ ...endpoint, framework: "bench", version: "1.0.0" });
      await client.connect();
      const call = async (payload) => allowed(await client.decide("pre_action", payload));
      return { call, close: both(() => client.close(), close) };
    },
  },
]);
