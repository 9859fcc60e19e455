// An echo over standard input and output: node server.mjs limit|harness|vscode|mcp
const servers = {
  // The limit: nothing but JSON and pipes.
  async limit() {
    const { lines } = await import("../lib/limit.mjs");
    lines(process.stdin, process.stdout, ({ id, params }, send) =>
      send({ jsonrpc: "2.0", id, result: params }),
    );
  },
  async harness() {
    const { createStdioChannel } = await import("@harnesskit/transport-stdio");
    const { createPeer } = await import("@harnesskit/wire/rpc");
    createPeer(createStdioChannel(), { request: (_method, params) => params });
  },
  async vscode() {
    const { default: rpc } = await import("vscode-jsonrpc/node");
    const connection = rpc.createMessageConnection(
      new rpc.StreamMessageReader(process.stdin),
      new rpc.StreamMessageWriter(process.stdout),
    );
    connection.onRequest("echo", (params) => params);
    connection.onClose(() => process.exit(0));
    connection.listen();
  },
  async mcp() {
    const { Server } = await import("@modelcontextprotocol/sdk/server/index.js");
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const z = await import("zod");
    const EchoRequestSchema = z.object({ method: z.literal("echo"), params: z.looseObject({}) });
    const server = new Server({ name: "echo", version: "1.0.0" }, { capabilities: {} });
    server.setRequestHandler(EchoRequestSchema, ({ params }) => params);
    await server.connect(new StdioServerTransport());
  },
};
await servers[process.argv[2]]();
