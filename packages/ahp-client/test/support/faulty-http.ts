import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { agreements, handshakeResult } from "./samples.ts";

type Respond = (message: any, response: ServerResponse) => void;

const json = (response: ServerResponse, body: unknown) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

const status =
  (code: number, headers = {}): Respond =>
  (_message, response) => {
    response.writeHead(code, headers);
    response.end();
  };

const resultOf = ({ method, params }: any): unknown => {
  if (method === "ahp/handshake") return handshakeResult();
  if (method === "ahp/query") return { answer: true };
  if (method === "ahp/batch") return { decisions: params.events.map(() => ({ decision: "allow" })) };
  return agreements[params.event_type as keyof typeof agreements];
};

const whole = (message: any) => ({ jsonrpc: "2.0", id: message.id, result: resultOf(message) });

const agree: Respond = (message, response) => {
  if (message.id === undefined) status(204)(message, response);
  else json(response, whole(message));
};

const answer =
  (change: (message: any) => unknown): Respond =>
  (message, response) =>
    json(response, change(message));

const faults = {
  break_off: (_message, response) => void response.destroy(),
  half_a_body: (message, response) => {
    const body = JSON.stringify(whole(message));
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length + 10 });
    response.write(body, () => response.destroy());
  },
  hang: () => {},
  slow: (message, response) => void setTimeout(() => agree(message, response), 400),
  slow_body: (message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(JSON.stringify(whole(message)).slice(0, -1));
  },
  garbage: (_message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('}{"decision":"allow"');
  },
  no_http: (_message, response) => void response.socket?.end("allow\r\n\r\n"),
  no_json_type: (message, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    response.end(JSON.stringify(whole(message)));
  },
  no_content: status(204),
  too_large: answer((message) => ({ ...whole(message), fill: "x".repeat(200_000) })),
  status_401: status(401),
  status_403: status(403),
  status_404: status(404),
  status_500: status(500),
  status_503: status(503),
  redirect: status(307, { location: "/elsewhere" }),
} satisfies Record<string, Respond>;

export type HttpFault = keyof typeof faults;

/** An HTTP server that agrees to everything, but for one fault: of every message but the handshake, or of that alone. */
export const startFaultyHttp = async (fault: HttpFault, place: "events" | "handshake") => {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const message = JSON.parse(await text(request)) as { method: string };
    const isPlace = (message.method === "ahp/handshake") === (place === "handshake");
    const act: Respond = isPlace ? faults[fault] : agree;
    act(message, response);
  };
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/ahp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
