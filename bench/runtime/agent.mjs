// An echo that connects to the socket at BENCH_SOCKET: node agent.mjs limit|vscode
import { connect } from "node:net";
import { resultMessage } from "./messages.mjs";

const path = process.env.BENCH_SOCKET;
const agents = {
  // The limit: nothing but frames and JSON.
  async limit() {
    const { frames } = await import("./limit-frames.mjs");
    const send = frames(connect(path), (message) => send(resultMessage(message)));
  },
  async vscode() {
    const { default: rpc } = await import("vscode-jsonrpc/node");
    const socket = connect(path);
    const connection = rpc.createMessageConnection(
      new rpc.SocketMessageReader(socket),
      new rpc.SocketMessageWriter(socket),
    );
    connection.onRequest("echo", (params) => params);
    connection.onClose(() => process.exit(0));
    connection.listen();
  },
};
await agents[process.argv[2]]();
