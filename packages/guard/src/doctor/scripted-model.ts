import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject } from "@harnesskit/wire/json";

/** What the model does next: run a shell command, or end its turn with a message. */
export type ModelStep = { readonly command: string } | { readonly say: string };

/** Chooses the step by what the tools have answered so far in the conversation, in order; it may take its time. */
export type ModelScript = (outputs: readonly string[]) => ModelStep | Promise<ModelStep>;

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

const list = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

/** Outputs in a request of the Responses API of OpenAI. */
const responsesOutputs = (body: unknown): string[] =>
  list(isObject(body) ? body.input : undefined)
    .filter(({ type }) => type === "function_call_output" || type === "custom_tool_call_output")
    .map(({ output }) => textOf(output));

/** Outputs in a request of the Gemini API. */
const geminiOutputs = (body: unknown): string[] =>
  list(isObject(body) ? body.contents : undefined)
    .flatMap(({ parts }) => list(parts))
    .filter(({ functionResponse }) => isObject(functionResponse))
    .map(({ functionResponse }) => textOf((functionResponse as Record<string, unknown>).response));

/** Outputs in a request of the Chat Completions API of OpenAI. */
const chatOutputs = (body: unknown): string[] =>
  list(isObject(body) ? body.messages : undefined)
    .filter(({ role }) => role === "tool")
    .map(({ content }) => textOf(content));

const sse = (
  response: ServerResponse,
  events: readonly { readonly type?: string; readonly data: unknown }[],
) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { type, data } of events) {
    response.write(`${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
};

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const answerResponses = (response: ServerResponse, step: ModelStep, count: number): void => {
  const item =
    "command" in step
      ? {
          type: "function_call",
          call_id: `call_${count}`,
          name: "exec_command",
          arguments: JSON.stringify({ cmd: step.command }),
        }
      : {
          type: "message",
          role: "assistant",
          id: `message_${count}`,
          content: [{ type: "output_text", text: step.say }],
        };
  const id = `response_${count}`;
  const events = [
    { type: "response.created", response: { id } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id, usage } },
  ];
  sse(
    response,
    events.map((data) => ({ type: data.type, data })),
  );
};

/** A request without tools is for a title or the like. */
const answerChat = async (
  response: ServerResponse,
  body: unknown,
  next: () => Promise<ModelStep>,
  count: number,
): Promise<void> => {
  const step: ModelStep =
    list(isObject(body) ? body.tools : undefined).length > 0 ? await next() : { say: "ok" };
  const call = {
    index: 0,
    id: `call_${count}`,
    type: "function",
    function: { name: "bash", arguments: JSON.stringify({ ...step, description: "a step" }) },
  };
  const isCall = "command" in step;
  const delta = { role: "assistant", ...(isCall ? { tool_calls: [call] } : { content: step.say }) };
  const chunk = (choice: object) => ({
    data: {
      id: `chat_${count}`,
      object: "chat.completion.chunk",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, ...choice }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  });
  sse(response, [
    chunk({ delta, finish_reason: null }),
    chunk({ delta: {}, finish_reason: isCall ? "tool_calls" : "stop" }),
  ]);
};

const geminiAnswer = (step: ModelStep) => ({
  candidates: [
    {
      index: 0,
      finishReason: "STOP",
      content: {
        role: "model",
        parts: [
          "command" in step
            ? {
                functionCall: {
                  name: "run_shell_command",
                  args: { command: step.command, description: "a step" },
                },
              }
            : { text: step.say },
        ],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

/**
 * Starts a model on a free port of the loopback interface. It speaks the APIs that Codex (`/v1/responses`), Gemini CLI
 * (`…:streamGenerateContent`), Copilot CLI and opencode (`/v1/chat/completions`) use, needs no key, and sends nothing anywhere. Rejects as the system does.
 */
export const startScriptedModel = async (script: ModelScript): Promise<ScriptedModel> => {
  const outputs: string[] = [];
  let count = 0;
  let calls = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const body = await readBody(request);
    const number = ++count;
    const step = async (known: readonly string[]): Promise<ModelStep> => {
      const last = known.at(-1);
      if (last !== undefined) outputs.push(last);
      const next = await script(known);
      if ("command" in next) calls++;
      return next;
    };
    if (pathname.endsWith("/responses")) {
      return answerResponses(response, await step(responsesOutputs(body)), number);
    }
    if (pathname.endsWith("/chat/completions")) {
      return answerChat(response, body, () => step(chatOutputs(body)), number);
    }
    if (pathname.endsWith(":streamGenerateContent")) {
      return sse(response, [{ data: geminiAnswer(await step(geminiOutputs(body))) }]);
    }
    if (pathname.endsWith(":generateContent")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(geminiAnswer({ say: "{}" })));
      return;
    }
    response.writeHead(404, { "content-type": "application/json" });
    response.end("{}");
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
