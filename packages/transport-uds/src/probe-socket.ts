import { connect } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";

/** `live`: a server has it. `stale`: its server is gone. `changed`: no such file, or its server went in this moment. */
export type SocketState = "live" | "stale" | "changed";

/** A full queue and another kind of socket have an owner too. */
const stateOfCode: Readonly<Record<string, SocketState>> = {
  ECONNREFUSED: "stale",
  ENOENT: "changed",
  ECONNRESET: "changed",
  EAGAIN: "live",
  EPROTOTYPE: "live",
  ETIMEDOUT: "live",
};

/** Finds out by connecting whether somebody has the socket. Rejects with `transport_failed` when that cannot be told. */
export const probeSocket = (path: string): Promise<SocketState> =>
  new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve("live");
    });
    socket.on("error", (cause) => {
      const code = systemErrorCode(cause) ?? "unknown";
      const state = stateOfCode[code];
      if (state) resolve(state);
      else {
        const shown = displayText(path, { maxLength: 300 });
        reject(
          new TransportError(
            `it cannot be told whether a server has ${shown} (${code}): remove it or choose another path`,
            { cause },
          ),
        );
      }
    });
  });
