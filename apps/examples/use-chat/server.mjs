import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { servePage } from "@harnesskit/example-web-shell/page-files";
import { createNotesAgent } from "./agent.mjs";
import { startChatServer } from "./chat-server.mjs";

// PORT: where it listens. DATA: where threads and notes are kept. TOKEN: what opens the page; a new one where it is not set.
// PACE: milliseconds before each piece of an answer, so that there is time to reload the page, or to kill this process.
const { PORT = "0", DATA, TOKEN = randomBytes(24).toString("base64url"), PACE = "250" } = process.env;
const data = DATA ?? fileURLToPath(new URL(".data", import.meta.url));
const origin = await startChatServer({
  agent: createNotesAgent({ data, beforeDelta: ({ signal }) => wait(Number(PACE), undefined, { signal }) }),
  page: await servePage(fileURLToPath(new URL("dist", import.meta.url))),
  token: TOKEN,
  port: Number(PORT),
});
process.stdout.write(`${origin}/#token=${TOKEN}\n`);
