/** What a model says in one answer. */
export interface Said {
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
}

/** The frames of a stream of server-sent events. */
type Frames = string;

const frame = (data: object, event?: string): Frames =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

const inputText = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input));

export const openAiStream = ({ text, thinking, calls = [] }: Said): Frames => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    frame({
      id: "c1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    });
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    ...(thinking === undefined ? [] : [chunk({ role: "assistant", reasoning_content: thinking })]),
    ...(text === undefined ? [] : [chunk({ role: "assistant", content: text })]),
    ...calls.map(({ id, name, input }, index) =>
      chunk({
        role: "assistant",
        tool_calls: [{ index, id, type: "function", function: { name, arguments: inputText(input) } }],
      }),
    ),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    frame({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage }),
    "data: [DONE]\n\n",
  ].join("");
};

export const anthropicStream = ({ text, thinking, signature, calls = [] }: Said): Frames => {
  const event = (type: string, more: object): Frames => frame({ type, ...more }, type);
  const blocks: (readonly [start: object, ...deltas: object[]])[] = [
    ...(thinking === undefined
      ? []
      : ([
          [
            { type: "thinking", thinking: "", signature: "" },
            { type: "thinking_delta", thinking },
            { type: "signature_delta", signature },
          ],
        ] as const)),
    ...(text === undefined
      ? []
      : ([
          [
            { type: "text", text: "" },
            { type: "text_delta", text },
          ],
        ] as const)),
    ...calls.map(
      ({ id, name, input }) =>
        [
          { type: "tool_use", id, name, input: {} },
          { type: "input_json_delta", partial_json: inputText(input) },
        ] as const,
    ),
  ];
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return [
    event("message_start", { message }),
    ...blocks.flatMap(([content_block, ...deltas], index) => [
      event("content_block_start", { index, content_block }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    event("message_stop", {}),
  ].join("");
};

export const geminiStream = ({ text, thinking, signature, calls = [] }: Said): Frames => {
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  const parts = [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true, ...signed }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, input }, index) => ({
      functionCall: { name, args: input },
      ...(index === 0 ? signed : {}),
    })),
  ];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return frame({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    usageMetadata,
  });
};
