import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import sirv from "sirv";

/** Serves the built site to this machine only, until the process is interrupted. An ended process closes its port. */
export async function serveSite(directory, port = 4173) {
  if (!existsSync(join(directory, "index.html"))) {
    throw new Error(`there is no site in ${directory}: build it with npm run docs`);
  }
  const server = createServer(sirv(directory, { etag: true }));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  console.log(`docs: http://127.0.0.1:${server.address().port}/ until Ctrl-C`);
}
