// The limit's other end: parses each message and answers with a decision. No check, no handler, no audit.
// Usage: node limit-harness.mjs stdio|unix|http|ws [socket path]
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { WebSocketServer } from "ws";
import { lines } from "../lib/limit.mjs";
import { answerTo } from "./messages.mjs";

const [transport, path] = process.argv.slice(2);
const answered = (text) => JSON.stringify(answerTo(JSON.parse(text)));
const tell = (server) => process.send(server.address().port);

const transports = {
  stdio: () => lines(process.stdin, process.stdout, (message, send) => send(answerTo(message))),
  unix: () =>
    createServer((socket) => lines(socket, socket, (message, send) => send(answerTo(message)))).listen(
      path,
      () => process.send(path),
    ),
  http: () => {
    const server = createHttpServer((request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const body = answered(text);
        response
          .writeHead(200, { "content-type": "application/json", "content-length": body.length })
          .end(body);
      });
    });
    server.listen(0, "127.0.0.1", () => tell(server));
  },
  ws: () => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => tell(server));
    server.on("connection", (socket) =>
      socket.on("message", (data) => socket.send(answered(data.toString()))),
    );
  },
};
transports[transport]();
if (process.send) process.on("disconnect", () => process.exit(0));
