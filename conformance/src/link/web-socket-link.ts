import { once } from "node:events";
import type { WebSocket } from "ws";
import { Unmet } from "../errors.ts";
import { Inbox } from "./inbox.ts";
import { type Link, toText } from "./link.ts";

/** A connection over an open WebSocket: one message in each text frame. */
export const createWebSocketLink = (socket: WebSocket, limits: { readonly maxMessages: number }): Link => {
  const inbox = new Inbox(limits.maxMessages);
  socket.on("message", (data, isBinary) => {
    if (isBinary) return inbox.addNoise("a binary frame");
    try {
      inbox.add(JSON.parse(String(data)));
    } catch {
      inbox.addNoise("a frame that is not JSON");
    }
  });
  socket.on("error", () => {});
  socket.on("close", (code) => inbox.close({ reason: `it was closed with ${code}` }));
  const sendFrame = (data: string | Uint8Array, isLast = true): Promise<void> =>
    new Promise((resolve) => {
      socket.send(data, { binary: false, fin: isLast }, () => resolve());
    });
  return {
    inbox,
    send: (message) => sendFrame(toText(message)),
    async write(chunks) {
      for (const [index, chunk] of chunks.entries()) await sendFrame(chunk, index === chunks.length - 1);
    },
    frame: (content) => Buffer.from(content as string),
    async reply(_request, answer) {
      if ("message" in answer) await sendFrame(toText(answer.message));
      else if (answer.body !== undefined) await sendFrame(answer.body);
      else socket.terminate();
    },
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      const closed = once(socket, "close");
      socket.close();
      const timer = setTimeout(() => socket.terminate(), 500);
      await closed;
      clearTimeout(timer);
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    ping: (withinMs) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Unmet(`a pong did not come within ${withinMs} ms`)),
          withinMs,
        );
        socket.once("pong", () => {
          clearTimeout(timer);
          resolve();
        });
        socket.ping();
      }),
  };
};
