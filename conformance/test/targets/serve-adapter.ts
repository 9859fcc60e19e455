import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { StartModule } from "../../src/index.ts";

/** The adapter of a chat harness: does what the suite asks. Rejects with what a harness refused. */
export interface ChatAdapter {
  call(method: string, params: never): Promise<unknown>;
  close(): Promise<void>;
}

/** Makes an adapter over the files of a folder, which notifies the suite. */
export type CreateChatAdapter = (
  directory: string,
  notify: (method: string, params: object) => void,
) => ChatAdapter;

/** Answers JSON-RPC, one message a line. */
export const answerLines = (
  create: CreateChatAdapter,
  directory: string,
  input: NodeJS.ReadableStream,
  write: (line: string) => void,
): ChatAdapter => {
  const send = (content: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...content })}\n`);
  const adapter = create(directory, (method, params) => send({ method, params }));
  const lines = createInterface({ input });
  lines.on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    adapter.call(method, params as never).then(
      (result) => send({ id, result: result ?? {} }),
      ({ message, category, code }) =>
        send({ id, error: { code: -32000, message, data: { category: category ?? code } } }),
    );
  });
  lines.on("error", () => {});
  return adapter;
};

/** Serves an adapter on a Unix socket of the suite. */
export const serveAdapter =
  (create: CreateChatAdapter): StartModule =>
  async ({ endpoint, directory }) => {
    const open = new Map<Socket, ChatAdapter>();
    const server = createServer((socket) => {
      socket.on("error", () => {});
      open.set(
        socket,
        answerLines(create, directory, socket, (line) => void socket.write(line)),
      );
    });
    server.listen(endpoint.slice(5));
    await once(server, "listening");
    return {
      async close() {
        for (const [socket, adapter] of open) {
          socket.destroy();
          await adapter.close();
        }
        server.close();
      },
    };
  };
