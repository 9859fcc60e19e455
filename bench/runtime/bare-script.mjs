// What an agent's start costs without a core: the same modules, one connection.
import { connect } from "node:net";
import "@harnesskit/agent-sdk";
import "zod";

const socket = connect(process.env.BENCH_SOCKET, () => socket.write("up"));
socket.on("close", () => process.exit(0));
