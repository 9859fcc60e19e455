import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import { WebSocketServer } from "ws";
import type { StartModule } from "../src/index.ts";
import { parseJson, toFrame } from "./peer-io.ts";
import {
  type Answer,
  createReferenceHarness,
  type HarnessDeviation,
  type Memory,
} from "./reference-harness.ts";

const maxBytes = 8_000_000;
type Receive = (message: unknown, memory: Memory) => Promise<Answer>;

const serveSocket = (socket: Socket, receive: Receive, deviates: (how: string) => boolean): void => {
  const memory: Memory = { isIntroduced: false };
  let rest: Uint8Array = Buffer.alloc(0);
  let isTooLong = false;
  let pending = 0;
  let isEnding = false;
  let queue = Promise.resolve();
  const write = (value: unknown): void => {
    if (deviates("slow-readers") && socket.writableLength > 100_000) return;
    socket.write(deviates("length-prefix") ? toFrame(value) : `${JSON.stringify(value)}\n`);
  };
  const take = async (line: Uint8Array): Promise<void> => {
    const message = parseJson(line);
    if (message === undefined && deviates("silent-garbage")) return;
    const answer = await receive(message, memory);
    if (answer !== undefined && answer.told === undefined) write(answer);
    if (message === undefined && deviates("hangs-up")) socket.destroy();
  };
  const run = (line: Uint8Array): void => {
    if (Buffer.from(line).toString().trim() === "") return;
    pending += 1;
    const work = () =>
      take(line).finally(() => {
        pending -= 1;
        if (pending === 0 && isEnding) socket.end();
      });
    if (deviates("one-at-a-time")) queue = queue.then(work);
    else void work();
  };
  if (deviates("logs")) socket.write("listening\n");
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    rest = deviates("forgets-pieces") ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (!isTooLong) run(line);
      isTooLong = false;
      if (deviates("one-a-chunk")) rest = Buffer.alloc(0);
    }
    if (rest.length > maxBytes && !deviates("no-limit")) {
      if (!isTooLong) write({ jsonrpc: "2.0", id: "", error: { code: -32600, message: "too large" } });
      isTooLong = true;
      rest = Buffer.alloc(0);
    }
  });
  socket.on("end", () => {
    isEnding = true;
    if (pending === 0 || deviates("ends-early")) socket.end();
  });
};

const serveHttp = (receive: Receive, token: string, deviates: (how: string) => boolean) => {
  const memory: Memory = { isIntroduced: false };
  const credentialOf = ({ headers }: IncomingMessage): string =>
    String(
      (deviates("no-key") ? undefined : headers["x-api-key"]) ??
        headers.authorization?.replace("Bearer ", "") ??
        "",
    );
  const statusOf = (request: IncomingMessage): number => {
    if (!/^(?:127\.0\.0\.1|localhost)/.test(request.headers.host ?? "") && !deviates("any-host")) return 403;
    if (request.headers.origin !== undefined && !deviates("any-origin")) return 403;
    if (credentialOf(request) !== token && !deviates("anyone")) return deviates("forbids") ? 403 : 401;
    if (request.method !== "POST") return deviates("any-method") ? 200 : 405;
    if (request.url !== (deviates("other-path") ? "/" : "/ahp")) return 404;
    if (request.headers["content-type"] !== "application/json" && !deviates("any-type")) return 415;
    return Number(request.headers["content-length"]) > maxBytes && !deviates("no-limit") ? 413 : 0;
  };
  const bySession = new Map<unknown, Memory>();
  const memoryOf = (message: unknown): Memory => {
    const session = (message as { params?: { session_id?: unknown } } | undefined)?.params?.session_id;
    const found = bySession.get(session) ?? { isIntroduced: false };
    bySession.set(session, found);
    return found;
  };
  const respond = async (bytes: Uint8Array, response: ServerResponse): Promise<void> => {
    const message = parseJson(bytes);
    const answer = await receive(message, deviates("session-bound") ? memoryOf(message) : memory);
    if (answer === undefined) return void response.writeHead(deviates("told-200") ? 200 : 204).end();
    const { told, ...rest } = answer;
    if (told !== undefined && deviates("told-silent")) return void response.writeHead(204).end();
    const status = rest.error !== undefined && deviates("error-400") ? 400 : 200;
    response.writeHead(status, { "content-type": deviates("as-text") ? "text/plain" : "application/json" });
    response.end(JSON.stringify(rest));
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const status = statusOf(request);
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      if (status !== 0) response.writeHead(status).end();
      else void respond(Buffer.concat(chunks), response);
    });
  };
};

/** Serves the reference harness, or a mutant, at a place of the suite. */
export const serveReferenceHarness =
  (deviation: HarnessDeviation = {}): StartModule =>
  async ({ endpoint, token }) => {
    const { receive } = createReferenceHarness(deviation);
    const deviates = (how: string) => deviation.serve === how;
    if (endpoint.startsWith("unix:")) {
      const sockets = new Set<Socket>();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket);
        serveSocket(socket, receive, deviates);
      }).listen(endpoint.slice(5));
      await once(server, "listening");
      return {
        async close() {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      };
    }
    const server = createHttpServer(serveHttp(receive, token, deviates));
    const upgrades = new WebSocketServer({
      server,
      maxPayload: maxBytes,
      autoPong: !deviates("no-pong"),
      verifyClient: (
        { req }: { req: IncomingMessage },
        done: (isAllowed: boolean, status?: number) => void,
      ) => {
        const query = new URL(req.url ?? "", "http://h").searchParams;
        const shown = [
          req.headers.authorization?.replace("Bearer ", ""),
          req.headers["x-api-key"],
          deviates("no-query") ? undefined : (query.get("token") ?? undefined),
        ];
        done(shown.includes(token) || deviates("anyone"), deviates("forbids") ? 403 : 401);
      },
    });
    upgrades.on("connection", (socket) => {
      const memory: Memory = { isIntroduced: false };
      socket.on("error", () => {});
      socket.on("message", async (data: Buffer) => {
        const answer = await receive(parseJson(data), memory);
        if (answer !== undefined && answer.told === undefined)
          socket.send(JSON.stringify(answer), { binary: deviates("binary") });
      });
    });
    server.listen(Number(new URL(endpoint).port), "127.0.0.1");
    await once(server, "listening");
    return {
      async close() {
        for (const socket of upgrades.clients) socket.terminate();
        server.close();
        server.closeAllConnections();
      },
    };
  };
