import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { parseJson, readFrames } from "./peer-io.ts";
import type { Answer, Request } from "./reference-harness.ts";

/** A request that is answered with an error. */
export class Refused {
  readonly error: { code: number; message: string; data?: unknown };
  constructor(code: number, message: string, data?: unknown) {
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

export type Method = (params: Request, after: (act: () => void) => void, socket: Socket) => Answer;

interface Parts {
  readonly skips: (rule: string) => boolean;
  readonly methods: Record<string, Method>;
  readonly write: (socket: Socket, message: Answer) => void;
  readonly sockets: Set<Socket>;
}

/** Answers JSON-RPC on length-prefixed frames, on the socket at `path`. */
export const serveFrames = async (path: string, { skips, methods, write, sockets }: Parts) => {
  const receive = (message: Request, socket: Socket): void => {
    const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
    const id = isObject && ["string", "number"].includes(typeof message.id) ? message.id : null;
    const isTold =
      isObject && message.jsonrpc === "2.0" && typeof message.method === "string" && message.id === undefined;
    const later: (() => void)[] = [];
    let reply: Answer;
    try {
      if (message === undefined) throw new Refused(-32700, "not JSON");
      if (
        !isTold &&
        (!isObject || message.jsonrpc !== "2.0" || typeof message.method !== "string" || id === null)
      )
        throw new Refused(-32600, "not a request");
      const method = Object.hasOwn(methods, message.method) ? methods[message.method] : undefined;
      if (message.params === undefined && skips("optional-params")) throw new Refused(-32602, "no params");
      if (method === undefined) throw new Refused(-32601, "unknown method");
      reply = { jsonrpc: "2.0", id, result: method(message.params, (act) => later.push(act), socket) };
    } catch (error) {
      const refused =
        error instanceof Refused ? error.error : { code: -32603, message: String((error as Error).stack) };
      reply = { jsonrpc: "2.0", id, error: refused };
    }
    if (skips("slow-readers") && socket.writableLength > 100_000) return;
    if (!isTold || skips("answers-told")) write(socket, reply);
    for (const act of later) act();
  };

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const forgets = { pieces: skips("pieces"), merged: skips("merged") };
    readFrames(socket, forgets, (content) => receive(parseJson(content), socket));
    socket.on("end", () => socket.end());
  }).listen(path);
  await once(server, "listening");
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      server.close();
      await once(server, "close");
    },
  };
};
