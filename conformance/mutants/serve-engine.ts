import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { StartModule } from "../src/index.ts";
import { createReferenceEngine, type EngineDeviation } from "./reference-engine.ts";

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};
type Engine = ReturnType<typeof createReferenceEngine>;

const serveLines = (engine: Engine, deviates: (how: string) => boolean) =>
  createServer((socket) => {
    let rest: Uint8Array = Buffer.alloc(0);
    let queue = Promise.resolve();
    if (deviates("logs")) socket.write("listening\n");
    const take = async (line: Uint8Array): Promise<void> => {
      const message = parse(line);
      if (message === undefined && deviates("silent-garbage")) return;
      const answer = await engine.receive(message);
      if (answer !== undefined) socket.write(`${JSON.stringify(answer)}\n`);
    };
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      rest = deviates("forgets-pieces") ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end);
        rest = rest.subarray(end + 1);
        queue = queue.then(() => take(line));
        if (deviates("one-a-chunk")) rest = Buffer.alloc(0);
      }
    });
  });

const serveHttp = (engine: Engine, token: string, deviates: (how: string) => boolean) =>
  createHttpServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const { method, headers } = request;
    const isKnown = headers.authorization === `Bearer ${token}` || deviates("anyone");
    const refused = !isKnown ? 401 : method !== "POST" && !deviates("any-method") ? 405 : 0;
    const isJson = headers["content-type"] === "application/json" || deviates("any-type");
    const status = refused || (isJson ? 0 : 415);
    if (status !== 0) return void response.writeHead(status).end();
    const message = parse(Buffer.concat(chunks));
    const answer = message === undefined && deviates("silent-garbage") ? "" : await engine.receive(message);
    response.writeHead(200, { "content-type": deviates("text") ? "text/plain" : "application/json" });
    response.end(JSON.stringify(answer));
  });

/** Serves the reference engine, or a mutant of it, at a place of the suite. */
export const serveReferenceEngine =
  (deviation: EngineDeviation = {}): StartModule =>
  async ({ endpoint, token, directory }) => {
    const deviates = (how: string) => deviation.serve === how;
    const engine = createReferenceEngine(directory, deviation);
    const isHttp = endpoint.startsWith("http");
    const server = isHttp ? serveHttp(engine, token, deviates) : serveLines(engine, deviates);
    const sockets = new Set<{ destroy(): void }>();
    server.on("connection", (socket: { destroy(): void }) => sockets.add(socket));
    if (isHttp) server.listen(Number(new URL(endpoint).port), "127.0.0.1");
    else server.listen(endpoint.slice(5));
    await once(server, "listening");
    return {
      async close() {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  };
