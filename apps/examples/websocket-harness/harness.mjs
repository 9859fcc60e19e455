// A harness over WebSocket: `node harness.mjs [TOKEN_FILE]`. The token is written to the file, and removed at the end.
import { createAhpServer } from "@harnesskit/ahp-server";
import { createHttpServer } from "@harnesskit/transport-http/node";

const harness = createAhpServer({
  name: "websocket-harness",
  version: "1.0.0",
  handlers: {
    pre_action: ({ payload }) =>
      payload?.tool_name === "rm"
        ? { decision: "block", reason: "destructive command requires approval" }
        : { decision: "allow" },
    post_action: ({ agent_id, payload }) =>
      console.log(`${agent_id} ran ${JSON.stringify(payload?.tool_name)}`),
    idle: ({ payload }) => (payload.idle_duration_ms < 1000 ? { decision: "defer" } : { decision: "allow" }),
  },
  onError: (error) => console.error(error.message), // the agent does not learn what a handler threw
});

const [tokenFile] = process.argv.slice(2);
const server = createHttpServer(tokenFile === undefined ? {} : { tokenFile });
const listener = server.webSocketListener({ path: "/ahp" }); // the token: in a header, or in the query
await listener.listen((channel) => harness.connect(channel));
await server.listen();
console.log(`listening on ${server.webSocketUrl}/ahp, token in ${server.tokenFile}`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await harness.close();
    await server.close();
  });
}
