import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@harnesskit/wire";
import type { Answer } from "../server/request-view.ts";

/** What is still read of a body that is not wanted, so that its sender sees the answer and no reset. */
const lingerBytes = 256 * 1024;
const lingerMs = 1000;

export interface WriteAnswerOptions {
  readonly clock: Clock;
  /** What the client is told about how long the connection is kept; undefined closes it after the answer. */
  readonly keepAliveMs: number | undefined;
}

/** Answers before the body has come: the rest of it is read for a moment, and then the connection is closed. */
const endAfterBody = (request: IncomingMessage, response: ServerResponse, clock: Clock): void => {
  let read = 0;
  const finish = () => {
    takeBack();
    request.off("data", onData);
    response.end();
  };
  const onData = (chunk: Uint8Array) => {
    read += chunk.length;
    if (read > lingerBytes) finish();
  };
  const takeBack = clock.after(lingerMs, finish);
  request.on("data", onData);
  request.once("end", finish);
  request.once("close", finish);
  request.on("error", () => {});
  request.resume();
};

/** Writes the answer of one request. True where the connection is closed behind it. */
export const writeAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  { clock, keepAliveMs }: WriteAnswerOptions,
): boolean => {
  if (response.destroyed || response.headersSent) return false;
  const { status, body } = answer;
  const isEarly = !request.complete && (request.headers["content-length"] ?? "0") !== "0";
  const isUnread = isEarly || (!request.complete && request.headers["transfer-encoding"] !== undefined);
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  // Node takes a list faster than an object.
  const headers: string[] = [];
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? "");
  if (answer.own) headers.push(...answer.own);
  if (status !== 204) headers.push("content-length", String(bytes));
  const closes = isUnread || keepAliveMs === undefined;
  if (closes) headers.push("connection", "close");
  else if (response.shouldKeepAlive)
    headers.push("keep-alive", `timeout=${Math.max(1, Math.floor(keepAliveMs / 1000))}`);
  response.writeHead(status, headers);
  const shown = request.method === "HEAD" ? undefined : body;
  if (!isUnread) {
    // Where each character is one byte, both encodings give the same, and this one is faster.
    response.end(shown, bytes === body?.length ? "latin1" : "utf8");
    return closes;
  }
  if (shown === undefined) response.flushHeaders();
  else response.write(shown);
  endAfterBody(request, response, clock);
  return closes;
};
