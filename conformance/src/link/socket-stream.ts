import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ByteStream } from "./byte-link.ts";

/** The bytes of a connected socket. */
export const socketStream = (socket: Socket): ByteStream => {
  socket.on("error", () => {});
  return {
    onData: (listener) => void socket.on("data", listener),
    onEnd: (listener) => {
      const report = (reason: string) => () => listener({ reason });
      socket.once("end", report("the target ended it"));
      socket.once("close", report("it was closed"));
    },
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: async () => {
      if (socket.destroyed) return;
      const closed = once(socket, "close");
      socket.destroy();
      await closed;
    },
  };
};

/** Connects to a Unix socket or to `host:port`. Rejects when it cannot. */
export const connectSocket = async (
  address: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<Socket> => {
  const socket = connect({ ...address, allowHalfOpen: true });
  await once(socket, "connect");
  socket.setNoDelay(true);
  return socket;
};
