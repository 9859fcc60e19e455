// node relay.mjs SOCKET: standard input and output to a Unix socket and back. A client that starts its server as a child
// process starts this in the place of one. It ends when either side does.
import { connect } from "node:net";

const socket = connect({ path: process.argv[2] ?? "", allowHalfOpen: true });
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on("finish", () => process.exit(0));
socket.on("end", () => process.exit(0));
socket.on("error", (error) => {
  process.stderr.write(`relay: ${error.message}\n`);
  process.exit(1);
});
