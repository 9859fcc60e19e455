import { connect } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";

/** A full queue and another kind of socket have an owner too; a socket that disappeared meanwhile has none. */
const isLiveByCode: Readonly<Record<string, boolean>> = {
  ECONNREFUSED: false,
  ENOENT: false,
  ECONNRESET: false,
  EAGAIN: true,
  EPROTOTYPE: true,
  ETIMEDOUT: true,
};

/** Finds out by connecting whether a server has the socket. Rejects with `transport_failed` when that is unclear. */
export const hasServer = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", (cause) => {
      const code = systemErrorCode(cause) ?? "unknown";
      const isLive = isLiveByCode[code];
      if (isLive !== undefined) {
        resolve(isLive);
        return;
      }
      const shown = displayText(path, { maxLength: 300 });
      const message = `it is unclear whether a server has ${shown} (${code}): remove it or choose another path`;
      reject(new TransportError(message, { cause }));
    });
  });
