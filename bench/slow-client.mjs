// 10,000 deltas a second to a client that reads 1 kB a second, and to one that reads all. Then the slow one reads on.
// Usage: node bench/slow-client.mjs [--seconds 20]
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printTable } from "./lib/rounds.mjs";
import { inTempDir } from "./threads/setting.mjs";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
const script = fileURLToPath(new URL("./slow-client/slow-server.mjs", import.meta.url));

/** A client with no code of ours: lines in, lines out. */
const openClient = (path) => {
  const socket = connect(path);
  const heard = [];
  const waiting = [];
  let rest = "";
  const take = (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) heard.push(JSON.parse(line));
    for (const look of waiting.splice(0)) look();
  };
  const until = async (fits) => {
    for (;;) {
      const found = heard.find(fits);
      if (found) return found;
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  const send = (id, method, params) =>
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return { socket, heard, take, until, send };
};

const ends = ({ method }) => method === "turn.completed" || method === "turn.error";

await inTempDir(async (root) => {
  const path = join(root, "run", "socket");
  const server = fork(script, [join(root, ".harness"), path, values.seconds]);
  const [{ start }] = await once(server, "message");
  const fast = openClient(path);
  fast.socket.on("data", fast.take);
  const slow = openClient(path);
  fast.send(1, "thread.create", {});
  const { threadId } = (await fast.until(({ id }) => id === 1)).result.thread;
  let read = 0;
  const sip = setInterval(() => {
    const chunk = slow.socket.read(100);
    if (!chunk) return;
    read += chunk.length;
    slow.take(chunk);
  }, 100);
  fast.send(2, "turn.start", { threadId, input: [{ type: "text", text: "go" }] });
  await fast.until(ends);
  clearInterval(sip);
  const behind = slow.heard.length;
  slow.socket.on("data", slow.take);
  await slow.until(ends);
  server.send("end");
  const [{ peak }] = await once(server, "message");
  await once(server, "exit");
  const lost = fast.heard.filter(
    ({ method, params }) =>
      method && method !== "item.delta" && !slow.heard.some((other) => other.params?.seq === params.seq),
  );
  const chars = fast.heard.reduce((sum, { params }) => sum + (params?.delta?.length ?? 0), 0);
  printTable(
    ["", "measured"],
    [
      [
        "deltas a second",
        Math.round((Number(values.seconds) * 10_000) / Number(values.seconds)).toLocaleString("en"),
      ],
      ["text streamed", `${(chars / 1024 ** 2).toFixed(1)} MB in ${values.seconds} s`],
      ["read by the slow client in that time", `${(read / 1024).toFixed(1)} kB (${behind} messages)`],
      ["heard by the fast one", `${fast.heard.length} messages`],
      ["heard by the slow one in the end", `${slow.heard.length} messages`],
      ["events but deltas that the slow one missed", String(lost.length)],
      [
        "memory of the server, at its start and at most",
        `${(start / 1024 ** 2).toFixed(0)} MB, ${(peak / 1024 ** 2).toFixed(0)} MB`,
      ],
    ],
  );
});
