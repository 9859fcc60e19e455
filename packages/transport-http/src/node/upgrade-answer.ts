import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Answer } from "../server/request-view.ts";

/** Answers an upgrade with plain HTTP, and closes the connection. */
export const refuseUpgrade = (socket: Duplex, { status, headers, body }: Answer): void => {
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const lines = Object.entries({ ...headers, "content-length": String(length), connection: "close" });
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`);
  socket.write(`${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  socket.end(body);
};
