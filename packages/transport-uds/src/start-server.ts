import type { ListenOptions, Server } from "node:net";

/** Begins to listen. Rejects with the operating system's error; the server can then be started again. */
export const startServer = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (cause: Error) => {
      server.off("listening", onListening);
      reject(cause);
    };
    const onListening = () => {
      server.off("error", onError);
      resolve();
    };
    server.once("error", onError);
    server.once("listening", onListening);
    // Not shared with other workers of a cluster: each listener is its own.
    server.listen({ ...options, exclusive: true });
  });
