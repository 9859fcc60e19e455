// harnesskit's other end: an ahp-server with a handler and an audit log, on one transport.
// Usage: node harness.mjs stdio|unix|http|ws DIRECTORY
import { join } from "node:path";
import { createAhpServer } from "@harnesskit/ahp-server";
import { openFileAuditSink } from "@harnesskit/audit/node";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { createUnixListener } from "@harnesskit/transport-uds";

const [transport, directory] = process.argv.slice(2);
const audit = await openFileAuditSink({ path: join(directory, `${transport}-${process.pid}.jsonl`) });
const harness = createAhpServer({
  name: "bench",
  version: "1.0.0",
  handlers: { pre_action: () => ({ decision: "allow" }) },
  audit,
});
const connect = (channel) => harness.connect(channel);
const served = () => {
  const server = createHttpServer({ routes: { "/ahp": harness }, token: "0123456789abcdef0123456789abcdef" });
  const sockets = server.webSocketListener({ path: "/ahp" });
  return { server, sockets };
};

const transports = {
  stdio: () => connect(createStdioChannel()),
  unix: async () => {
    const path = join(directory, `${process.pid}.sock`);
    await createUnixListener({ path, framing: "newline" }).listen(connect);
    process.send(path);
  },
  http: async () => {
    const { server } = served();
    await server.listen();
    process.send(server.port);
  },
  ws: async () => {
    const { server, sockets } = served();
    await sockets.listen(connect);
    await server.listen();
    process.send(server.port);
  },
};
await transports[transport]();
if (process.send) process.on("disconnect", () => process.exit(0));
