import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { judgeRequest } from "../../../test-kit/strict-provider/judge-request.ts";

export interface StubRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** An HTTP server on a free port that answers with what `answer` gives, request by request, to what a provider takes. */
export async function startStub(answer: (request: StubRequest, index: number) => StubAnswer) {
  const requests: StubRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString() || "{}";
      const request = { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(text) };
      const refused = judgeRequest(request.path, request.body);
      const index = requests.push(request) - 1;
      const {
        status = 200,
        headers,
        body,
      } = refused
        ? { status: 400, body: JSON.stringify({ error: { message: refused } }) }
        : answer(request, index);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const eventStream = { "content-type": "text/event-stream" };

/** A streamed answer of the OpenAI chat completions API. */
export function openAiAnswer(answer: { text: string; call?: { name: string; input: object } }): StubAnswer {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "stub",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const { call } = answer;
  const input = JSON.stringify(call?.input);
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...answer.text.split(/(?<= )/).map((content) => chunk({ content })),
    ...(call === undefined
      ? []
      : [
          chunk({
            tool_calls: [
              { index: 0, id: "t1", type: "function", function: { name: call.name, arguments: "" } },
            ],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(0, 3) } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(3) } }] }),
        ]),
    chunk({}, call === undefined ? "stop" : "tool_calls"),
    { ...chunk({}), choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } },
  ];
  const events = chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
  return { headers: eventStream, body: `${events}data: [DONE]\n\n` };
}

/** A streamed answer of the Anthropic messages API. */
export function anthropicAnswer(answer: {
  text: string;
  call?: { name: string; input: object };
}): StubAnswer {
  const { call } = answer;
  const input = JSON.stringify(call?.input);
  const partial = (json: string) => ({
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: json },
  });
  const events: { type: string; [field: string]: unknown }[] = [
    {
      type: "message_start",
      message: {
        id: "m1",
        type: "message",
        role: "assistant",
        model: "stub",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 11, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...answer.text.split(/(?<= )/).map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
    ...(call === undefined
      ? []
      : [
          {
            type: "content_block_start",
            index: 1,
            content_block: { type: "tool_use", id: "t1", name: call.name, input: {} },
          },
          partial(input.slice(0, 3)),
          partial(input.slice(3)),
          { type: "content_block_stop", index: 1 },
        ]),
    {
      type: "message_delta",
      delta: { stop_reason: call === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { headers: eventStream, body };
}
