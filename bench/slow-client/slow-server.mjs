// A server whose turn brings 10,000 deltas a second. Reports its largest memory when it is asked to end.
import { createThreadServer } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createUnixListener } from "@harnesskit/transport-uds";

const [root, path, seconds] = process.argv.slice(2);
const runner = {
  async run(turn) {
    const begin = Date.now();
    let sent = 0;
    while (Date.now() - begin < seconds * 1000) {
      const message = turn.message();
      while (sent % 1000 !== 999) {
        message.append(`delta number ${sent++} `);
        if (sent % 20 === 0)
          await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin + sent / 10 - Date.now())));
      }
      sent++;
      await message.complete();
    }
  },
};
const server = createThreadServer({ runner, store: createFileThreadStore({ root }), flush: "never" });
const listener = createUnixListener({ path, framing: "newline" });
await listener.listen((channel) => server.connect(channel));
let peak = 0;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 50);
process.send({ start: process.memoryUsage.rss() });
process.on("message", async () => {
  process.send({ peak });
  clearInterval(timer);
  await server.close();
  await listener.close();
  process.disconnect();
});
