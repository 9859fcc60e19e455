import { connect } from "node:net";
import rpc from "vscode-jsonrpc/node";

const socket = connect(process.env.BENCH_SOCKET);
const connection = rpc.createMessageConnection(
  new rpc.SocketMessageReader(socket),
  new rpc.SocketMessageWriter(socket),
);
connection.onRequest("echo", (params) => params);
connection.onClose(() => process.exit(0));
connection.listen();
