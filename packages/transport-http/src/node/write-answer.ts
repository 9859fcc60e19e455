import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@harnesskit/wire";
import { maxTimerMs } from "@harnesskit/wire/time";
import type { Answer, AnswerStream } from "../server/request-view.ts";

/** How much of an unwanted body is still read, so that its sender receives the answer and not a reset. */
const lingerBytes = 256 * 1024;
const lingerMs = 1000;

export interface WriteAnswerOptions {
  readonly clock: Clock;
  /** The `Keep-Alive` time that the client is given; undefined closes the connection after the answer. */
  readonly keepAliveMs: number | undefined;
}

/** Ends an answer that was sent before the body was received: reads on for a moment, then closes the connection. */
const endAfterBody = (request: IncomingMessage, response: ServerResponse, clock: Clock): void => {
  let read = 0;
  const finish = () => {
    cancelTimer();
    request.off("data", onData);
    response.end();
  };
  const onData = (chunk: Uint8Array) => {
    read += chunk.length;
    if (read > lingerBytes) finish();
  };
  const cancelTimer = clock.after(lingerMs, finish);
  request.on("data", onData);
  request.once("end", finish);
  request.once("close", finish);
  request.on("error", () => {});
  request.resume();
};

/** Sends a stream as fast as its client takes it, and cuts off a client that takes nothing: it would hold the stream for ever. */
const writeStream = (response: ServerResponse, stream: AnswerStream): void => {
  const { stallMs } = stream;
  const { socket } = response.req;
  // Over the socket nothing went for this time, of one piece either. Where nothing waits to go, this process was held up.
  socket.setTimeout(Math.min(stallMs, maxTimerMs));
  response.on("timeout", () => {
    if (socket.writableLength > 0) response.destroy();
  });
  response.prependOnceListener("finish", () => socket.setTimeout(0));
  response.flushHeaders();
  // A client that is gone, or a failure of the stream, has closed the connection: nothing is left to say.
  pipeline(Readable.from(stream, { highWaterMark: 1 }), response).catch(() => {});
};

/** Writes the answer of one request. Returns true when the connection closes behind it. */
export const writeAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  { clock, keepAliveMs }: WriteAnswerOptions,
): boolean => {
  const { status, body, stream } = answer;
  if (response.destroyed || response.headersSent) {
    void stream?.return?.();
    return false;
  }
  const hasBody =
    (request.headers["content-length"] ?? "0") !== "0" || request.headers["transfer-encoding"] !== undefined;
  const isUnread = !request.complete && hasBody;
  const closes = isUnread || keepAliveMs === undefined;
  const headers: string[] = [];
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? "");
  if (status !== 204 && !stream)
    headers.push("content-length", String(body === undefined ? 0 : Buffer.byteLength(body)));
  if (closes) headers.push("connection", "close");
  else if (response.shouldKeepAlive) {
    headers.push("keep-alive", `timeout=${Math.max(1, Math.floor(keepAliveMs / 1000))}`);
  }
  response.writeHead(status, headers);
  if (stream) {
    writeStream(response, stream);
    return closes;
  }
  const shown = request.method === "HEAD" ? undefined : body;
  if (!isUnread) {
    response.end(shown);
    return closes;
  }
  if (shown === undefined) response.flushHeaders();
  else response.write(shown);
  endAfterBody(request, response, clock);
  return closes;
};

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
