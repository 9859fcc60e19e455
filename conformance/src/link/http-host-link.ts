import type { IncomingMessage, ServerResponse } from "node:http";
import { isPlainObject } from "@harnesskit/wire/json";
import { Inbox } from "./inbox.ts";
import { type Link, toText } from "./link.ts";

/** A client over HTTP: its POSTs are the messages. */
export interface HttpHostLink extends Link {
  receive(request: IncomingMessage, response: ServerResponse): void;
}

/** What is known of the request that carried a message. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export const factsOf = (request: IncomingMessage): RequestFacts => ({
  method: request.method ?? "",
  path: request.url ?? "",
  headers: request.headers,
});

/** What is answered later: a request of JSON-RPC, or of a protocol without methods. */
const isRequest = (message: unknown): boolean =>
  isPlainObject(message) && (!("method" in message) || "id" in message);

/** Takes the POSTs of a client. A notification is answered with 204 at once, a request by `reply`. */
export const createHttpHostLink = (
  limits: { readonly maxMessages: number; readonly maxMessageBytes: number },
  onMessage: (message: unknown, facts: RequestFacts) => void,
): HttpHostLink => {
  const inbox = new Inbox(limits.maxMessages);
  const waiting = new Map<unknown, ServerResponse>();
  const deliver = (text: string, request: IncomingMessage, response: ServerResponse): void => {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      inbox.addNoise("a body that is not JSON");
      return void response.writeHead(400).end();
    }
    if (isRequest(message)) waiting.set(message, response);
    else response.writeHead(204).end();
    onMessage(message, factsOf(request));
    inbox.add(message);
  };
  const responseTo = (request: unknown): ServerResponse | undefined => {
    const response = waiting.get(request);
    waiting.delete(request);
    return response;
  };
  const end = (response: ServerResponse | undefined, status: number, body: string): void => {
    response?.writeHead(status, { "content-type": "application/json" }).end(body);
  };
  return {
    inbox,
    receive(request, response) {
      const chunks: Uint8Array[] = [];
      let length = 0;
      request.on("data", (chunk: Uint8Array) => {
        length += chunk.length;
        if (length <= limits.maxMessageBytes) chunks.push(chunk);
      });
      request.on("error", () => {});
      response.on("error", () => {});
      request.on("end", () => deliver(Buffer.concat(chunks).toString("utf8"), request, response));
    },
    send: async () => {},
    write: async () => {},
    frame: (content) => Buffer.from(content as string),
    async reply(request, answer) {
      const response = responseTo(request);
      if ("message" in answer) end(response, 200, toText(answer.message));
      else if (answer.drop === true) response?.destroy();
      else if (answer.body === undefined) response?.writeHead(answer.status ?? 204).end();
      else end(response, answer.status ?? 200, answer.body);
    },
    async close() {
      for (const response of waiting.values()) response.destroy();
      waiting.clear();
      inbox.close({ reason: "it was closed" });
    },
  };
};
