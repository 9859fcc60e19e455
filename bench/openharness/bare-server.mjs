// The limit: node:http that parses each request and answers it with the same JSON. No check, no token, no memory.
import { createServer } from "node:http";
import { responseTo } from "./messages.mjs";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.stringify(responseTo(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    response.writeHead(200, headers).end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit(0));
