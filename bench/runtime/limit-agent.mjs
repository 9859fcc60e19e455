// The limit: an echo with nothing but frames and JSON.
import { connect } from "node:net";
import { frames } from "./limit-frames.mjs";
import { resultMessage } from "./messages.mjs";

const send = frames(connect(process.env.BENCH_SOCKET), (message) => send(resultMessage(message)));
