import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { StartModule } from "../src/index.ts";
import { parseJson, readLines } from "./peer-io.ts";
import { createReferenceEngine, type EngineDeviation } from "./reference-engine.ts";

type Engine = ReturnType<typeof createReferenceEngine>;

const serveLines = (engine: Engine, deviates: (how: string) => boolean) =>
  createServer((socket) => {
    let queue = Promise.resolve();
    if (deviates("logs")) socket.write("listening\n");
    const take = async (line: Uint8Array): Promise<void> => {
      const message = parseJson(line);
      if (message === undefined && deviates("silent-garbage")) return;
      const answer = await engine.receive(message);
      if (answer !== undefined) socket.write(`${JSON.stringify(answer)}\n`);
    };
    socket.on("error", () => {});
    const forgets = { pieces: deviates("forgets-pieces"), merged: deviates("one-a-chunk") };
    readLines(socket, forgets, (line) => {
      queue = queue.then(() => take(line));
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
    const message = parseJson(Buffer.concat(chunks));
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
