import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { createPeer } from "@harnesskit/wire/rpc";
import { startCommand } from "../lib/command.mjs";

/** Starts `harness serve` in a directory of its own, with the `offline` model. */
const startServer = async (directory) => {
  const path = join(directory, "run", "socket");
  const workspace = join(directory, "work");
  await mkdir(workspace);
  const args = ["serve", "--cwd", workspace, "--listen", `unix:${path}`];
  const { pid, close } = await startCommand(args, {
    socket: path,
    env: { XDG_STATE_HOME: join(directory, "state") },
  });
  /** Processor time so far, in milliseconds. */
  const used = async () => {
    const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  return { path, used, close };
};

/** A client with a thread of its own, which hears of that one only. */
const openClient = async (path) => {
  let ended = () => {};
  const peer = createPeer(await createUnixTransport({ path }).connect(), {
    notification: (name) => {
      if (name === "turn.completed" || name === "turn.error") ended(name);
    },
  });
  const request = (method, params) => peer.request(method, params, { timeoutMs: 120_000 });
  const { threadId } = (await request("thread.create", {})).thread;
  await request("thread.subscribe", { threadId });
  return {
    async turn() {
      const end = new Promise((resolve) => {
        ended = resolve;
      });
      await request("turn.start", { threadId, input: [{ type: "text", text: "hello" }] });
      const name = await end;
      if (name !== "turn.completed") throw new RangeError(name);
    },
    list: () => request("thread.list", { limit: 20 }),
    close: () => peer.close(),
  };
};

/**
 * So many clients of `harness serve` for so long: each turns, and lists the threads before the next turn where `lists`. Gives the turns a second, the 99th
 * percentile of a turn in milliseconds, and the server's processor time of a turn.
 */
export const crowd = async (directory, { clients: count, seconds, lists }) => {
  const server = await startServer(directory);
  const clients = [];
  for (let index = 0; index < count; index += 25) {
    const some = Array.from({ length: Math.min(25, count - index) }, () => openClient(server.path));
    clients.push(...(await Promise.all(some)));
  }
  const used = await server.used();
  const begin = performance.now();
  const until = begin + seconds * 1000;
  const times = [];
  await Promise.all(
    clients.map(async ({ turn, list }) => {
      while (performance.now() < until) {
        const start = performance.now();
        await turn();
        times.push(performance.now() - start);
        if (lists) await list();
      }
    }),
  );
  const elapsed = (performance.now() - begin) / 1000;
  const processor = ((await server.used()) - used) / times.length;
  await Promise.all(clients.map(({ close }) => close()));
  await server.close();
  times.sort((one, other) => one - other);
  return { perSecond: times.length / elapsed, p99: times[Math.floor(times.length * 0.99)], processor };
};
