import type { Server } from "node:net";
import { callSafely, TransportError } from "@harnesskit/wire";
import { systemErrorCode } from "./system-error.ts";

/** Reports that the system has given a server no connection for a client that came, as without file descriptors: once until the next one that it gives. */
export const reportLostConnections = (server: Server, onError: (error: TransportError) => void): void => {
  let isReported = false;
  server.on("connection", () => {
    isReported = false;
  });
  server.on("error", (cause) => {
    if (!server.listening || isReported) return;
    isReported = true;
    const code = systemErrorCode(cause) ?? "unknown";
    const advice = code === "EMFILE" ? ": raise the limit of open files (ulimit -n)" : "";
    callSafely(() => onError(new TransportError(`clients are turned away (${code})${advice}`, { cause })));
  });
};
