import { isObject } from "@harnesskit/wire/json";

/** A call of a tool, with the name and the input that the agent gave its model. */
export interface ModelCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Of a tool that Codex offers in a group, the group's name. @default undefined */
  readonly namespace?: string | undefined;
}

/** What the model does next: run a shell command by the agent's own tool, call tools at one time, or end its turn with a message. */
export type ModelStep =
  | { readonly command: string }
  | { readonly calls: readonly ModelCall[] }
  | { readonly say: string };

/** What an answer is made of. */
interface ModelAnswer {
  readonly calls: readonly ModelCall[];
  /** The message; undefined where tools are called. */
  readonly say: string | undefined;
  /** Unique in the life of the model, for ids. */
  readonly number: number;
}

/** An event of a stream: its data, as JSON. */
export interface ModelEvent {
  readonly type?: string;
  readonly data: unknown;
}

/** One API of a provider: where it is, what its requests say, and its streamed answers. */
export interface ModelApi {
  readonly path: string;
  readonly bash: (command: string) => ModelCall;
  /** What the tools have answered so far, in order. */
  readonly outputs: (body: unknown) => readonly string[];
  /** What the user has said. */
  readonly prompts: (body: unknown) => readonly string[];
  /** The names of the tools that the agent offers. */
  readonly tools: (body: unknown) => readonly string[];
  readonly stream: (answer: ModelAnswer) => readonly ModelEvent[];
}

const bodyField = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

const list = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

/** The text of a content that is a string or has parts. */
const contentText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : list(content)
        .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
        .join("\n");

const names = (tools: unknown): readonly string[] =>
  list(tools).map(({ name, type }) => (typeof name === "string" ? name : textOf(type)));

/** The Responses API of OpenAI, which Codex speaks. */
const responsesApi: ModelApi = {
  path: "/responses",
  bash: (command) => ({ name: "exec_command", input: { cmd: command } }),
  outputs: (body) =>
    list(bodyField(body, "input"))
      .filter(({ type }) => type === "function_call_output" || type === "custom_tool_call_output")
      .map(({ output }) => textOf(output)),
  prompts: (body) =>
    list(bodyField(body, "input"))
      .filter(({ type, role }) => type === "message" && role === "user")
      .map(({ content }) => contentText(content)),
  tools: (body) =>
    list(bodyField(body, "tools")).flatMap((tool) =>
      tool.type === "namespace"
        ? names(tool.tools).map((name) => `${textOf(tool.name)}.${name}`)
        : names([tool]),
    ),
  stream: ({ calls, say, number }) => {
    const items = calls.map(({ name, namespace, input }, index) => ({
      type: "function_call",
      name,
      namespace,
      arguments: JSON.stringify(input),
      call_id: `call_${number}_${index}`,
    }));
    const message = {
      type: "message",
      role: "assistant",
      id: `message_${number}`,
      content: [{ type: "output_text", text: say }],
    };
    const id = `response_${number}`;
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const events = [
      { type: "response.created", response: { id } },
      ...(say === undefined ? items : [message]).map((item) => ({ type: "response.output_item.done", item })),
      { type: "response.completed", response: { id, usage } },
    ];
    return events.map((data) => ({ type: data.type, data }));
  },
};

/** The Chat Completions API of OpenAI, which Copilot CLI and opencode speak. */
const chatApi: ModelApi = {
  path: "/chat/completions",
  bash: (command) => ({ name: "bash", input: { command, description: "a step" } }),
  outputs: (body) =>
    list(bodyField(body, "messages"))
      .filter(({ role }) => role === "tool")
      .map(({ content }) => textOf(content)),
  prompts: (body) =>
    list(bodyField(body, "messages"))
      .filter(({ role }) => role === "user")
      .map(({ content }) => contentText(content)),
  tools: (body) => names(list(bodyField(body, "tools")).map((tool) => tool.function)),
  stream: ({ calls, say, number }) => {
    const tool_calls = calls.map(({ name, input }, index) => ({
      index,
      id: `call_${number}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const delta = { role: "assistant", ...(say === undefined ? { tool_calls } : { content: say }) };
    const chunk = (choice: object) => ({
      data: {
        id: `chat_${number}`,
        object: "chat.completion.chunk",
        created: 0,
        model: "scripted",
        choices: [{ index: 0, ...choice }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    });
    return [
      chunk({ delta, finish_reason: null }),
      chunk({ delta: {}, finish_reason: say === undefined ? "tool_calls" : "stop" }),
    ];
  },
};

/** The Messages API of Anthropic, which Claude Code speaks. */
const messagesApi: ModelApi = {
  path: "/messages",
  bash: (command) => ({ name: "Bash", input: { command, description: "a step" } }),
  outputs: (body) =>
    list(bodyField(body, "messages"))
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => contentText(content) || textOf(content)),
  prompts: (body) =>
    list(bodyField(body, "messages"))
      .filter(({ role }) => role === "user")
      .map(({ content }) => contentText(content)),
  tools: (body) => names(bodyField(body, "tools")),
  stream: ({ calls, say, number }) => {
    const message = {
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      model: "scripted",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const blocks = say === undefined ? calls : [say];
    const events = [
      { type: "message_start", message },
      ...blocks.flatMap((block, index) => {
        const isText = typeof block === "string";
        const content_block = isText
          ? { type: "text", text: "" }
          : { type: "tool_use", id: `toolu_${number}_${index}`, name: block.name, input: {} };
        const delta = isText
          ? { type: "text_delta", text: block }
          : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
        return [
          { type: "content_block_start", index, content_block },
          { type: "content_block_delta", index, delta },
          { type: "content_block_stop", index },
        ];
      }),
      {
        type: "message_delta",
        delta: { stop_reason: say === undefined ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ type: data.type, data }));
  },
};

/** The Gemini API, which Gemini CLI speaks. */
const geminiApi: ModelApi = {
  path: ":streamGenerateContent",
  bash: (command) => ({ name: "run_shell_command", input: { command, description: "a step" } }),
  outputs: (body) =>
    list(bodyField(body, "contents"))
      .flatMap(({ parts }) => list(parts))
      .filter(({ functionResponse }) => isObject(functionResponse))
      .map(({ functionResponse }) => textOf(bodyField(functionResponse, "response"))),
  prompts: (body) =>
    list(bodyField(body, "contents"))
      .filter(({ role }) => role === "user")
      .map(({ parts }) => contentText(parts)),
  tools: (body) =>
    list(bodyField(body, "tools")).flatMap(({ functionDeclarations }) => names(functionDeclarations)),
  stream: ({ calls, say }) => {
    const parts =
      say === undefined
        ? calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
        : [{ text: say }];
    return [
      {
        data: {
          candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        },
      },
    ];
  },
};

export const modelApis: readonly ModelApi[] = [responsesApi, chatApi, messagesApi, geminiApi];
