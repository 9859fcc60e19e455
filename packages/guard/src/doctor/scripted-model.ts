import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelApi, type ModelEvent, type ModelStep, modelApis } from "./model-apis.ts";

/** What an agent has asked its model. */
export interface ModelRequest {
  /** The names of the tools that it offers. */
  readonly tools: readonly string[];
  /** What its user has said, with what the agent adds to it. */
  readonly prompts: readonly string[];
}

/** Chooses the step by what the tools have answered so far in the conversation, in order; it may take its time. */
export type ModelScript = (
  outputs: readonly string[],
  request: ModelRequest,
) => ModelStep | Promise<ModelStep>;

/** A model on this machine: it answers the requests of coding agents by a script. */
export interface ScriptedModel {
  /** Such as `http://127.0.0.1:4711`. */
  readonly url: string;
  /** What the agents were answered for each of their tool calls, in the order of arrival, over all conversations. */
  readonly outputs: readonly string[];
  /** How often a tool was asked for. */
  readonly calls: number;
  close(): Promise<void>;
}

const maxBodyBytes = 16 * 1024 * 1024;

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
};

const sendEvents = (response: ServerResponse, events: readonly ModelEvent[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { type, data } of events) {
    response.write(`${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
};

const callsOf = (api: ModelApi, step: ModelStep) =>
  "command" in step ? [api.bash(step.command)] : "calls" in step ? step.calls : [];

/** What Gemini CLI asks for titles and the like. */
const aside = {
  candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [{ text: "{}" }] } }],
};

/**
 * Starts a model on a free port of the loopback interface. It speaks the APIs that Codex (`/v1/responses`), Claude Code (`/v1/messages`), Gemini CLI
 * (`…:streamGenerateContent`), Copilot CLI and opencode (`/v1/chat/completions`) use, needs no key, and sends nothing anywhere. A request that offers
 * no tools is for a title or the like, and is not the script's. Rejects as the system does.
 */
export const startScriptedModel = async (script: ModelScript): Promise<ScriptedModel> => {
  const outputs: string[] = [];
  let count = 0;
  let calls = 0;
  const next = async (api: ModelApi, body: unknown): Promise<ModelStep> => {
    const request = { tools: api.tools(body), prompts: api.prompts(body) };
    const known = api.outputs(body);
    const last = known.at(-1);
    if (last !== undefined) outputs.push(last);
    const step = await script(known, request);
    if (!("say" in step)) calls++;
    return step;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const body = await readBody(request);
    const number = ++count;
    const api = modelApis.find(({ path }) => pathname.endsWith(path));
    if (api) {
      const step = api.tools(body).length === 0 ? { say: "ok" } : await next(api, body);
      const say = "say" in step ? step.say : undefined;
      return sendEvents(response, api.stream({ calls: callsOf(api, step), say, number }));
    }
    const isAside = pathname.endsWith(":generateContent");
    response.writeHead(isAside ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isAside ? aside : {}));
  };
  const server: Server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    outputs,
    get calls() {
      return calls;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
