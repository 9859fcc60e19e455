import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { judgeRequest, kindOf, type ProviderKind } from "./judge-request.ts";
import { anthropicStream, geminiStream, openAiStream, type Said } from "./streams.ts";

export type { Said } from "./streams.ts";

// The providers' packages warn of models that do not exist.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

export interface StrictProviderOptions {
  /** What the model says to a request, the requests that were not refused counted from 0. */
  readonly says: (request: ProviderRequest, index: number) => Said;
  /** Characters of a request's messages that the model's context takes. @default any */
  readonly context?: number;
  /** Signatures that it has given before. @default none */
  readonly knownSignatures?: readonly string[];
}

const streams = { anthropic: anthropicStream, gemini: geminiStream, openai: openAiStream };
const overflows = {
  anthropic: "prompt is too long: 210000 tokens > 200000 maximum",
  gemini: "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
  openai: "This model's maximum context length is 32768 tokens. Please reduce the length of the messages.",
};
const bodies: Readonly<Record<ProviderKind, (message: string) => object>> = {
  anthropic: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  gemini: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
  openai: (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};

const signaturesOf = ({ thinking, calls = [], signature }: Said): string[] =>
  signature !== undefined && (thinking !== undefined || calls.length > 0) ? [signature] : [];

/**
 * A provider on a free port that speaks as OpenAI, Anthropic and Gemini do, and refuses with 400 what they refuse. Why is in `refusals`;
 * a request over `context` is in none, and counted in `overflows`.
 */
export const strictProvider = async ({
  says,
  context = Number.POSITIVE_INFINITY,
  knownSignatures = [],
}: StrictProviderOptions) => {
  const requests: ProviderRequest[] = [];
  const refusals: string[] = [];
  const signed = new Set<string>(knownSignatures);
  let tooLong = 0;
  let answered = 0;
  const server = createServer(async (incoming, response) => {
    let text = "";
    for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
    const path = incoming.url ?? "";
    const request: ProviderRequest = { path, headers: incoming.headers, body: JSON.parse(text) };
    requests.push(request);
    const kind = kindOf(path);
    const refused = judgeRequest(path, request.body, signed);
    const messages = JSON.stringify(request.body.messages ?? request.body.contents);
    if (refused !== undefined || messages.length > context) {
      if (refused === undefined) tooLong++;
      else refusals.push(refused);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify(bodies[kind](refused ?? overflows[kind])));
      return;
    }
    const said = says(request, answered++);
    for (const signature of signaturesOf(said)) signed.add(signature);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(streams[kind](said));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keyed = { apiKey: "test" };
  return {
    url,
    requests,
    refusals,
    overflows: () => tooLong,
    /** One model of each provider, by the name of its API. */
    models: {
      openai: createOpenAICompatible({ ...keyed, name: "local", baseURL: `${url}/v1` })("m"),
      anthropic: createAnthropic({ ...keyed, baseURL: `${url}/v1` })("claude-x"),
      gemini: createGoogleGenerativeAI({ ...keyed, baseURL: `${url}/v1beta` })("gemini-3-pro"),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
