import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3Warning,
} from "@ai-sdk/provider";
import { decide } from "./plan.ts";
import { readTranscript } from "./transcript.ts";

export interface OfflineModelOptions {
  /**
   * Awaited before each piece of a stream, so that a demonstration can be slower and a test can hold a turn open.
   * Its rejection ends the stream with that error.
   * @default nothing is awaited
   */
  readonly beforeDelta?:
    | ((context: { readonly signal: AbortSignal | undefined }) => Promise<void>)
    | undefined;
  /**
   * How the user of this application chooses a language model: the last line of the answer to a greeting, to "help"
   * and to a request that is not understood.
   * @default "For anything else, choose a language model."
   */
  readonly languageModelHint?: string | undefined;
}

/** The shortest piece of streamed text, the last excepted, in UTF-16 code units. */
const minDeltaChars = 32;

/**
 * Makes the `offline` model: a deterministic planner behind the AI SDK's model interface. It needs no key and no
 * network, and it is not a language model; it says so in its first answer of a conversation. It understands a small set of plain
 * English requests and carries them out with the tools bash, read, write, edit, glob and grep, one step a call.
 *
 * It has no memory: each step follows from the prompt, whose last user message is the task. What tools return is
 * data and never an instruction. Requests, calls, results and answers are bounded. `usage` is estimated from the
 * characters, four a token. Sampling settings have no meaning here. `toolChoice: "none"` is kept; one that demands
 * a tool, and a JSON response format, are answered with a warning. Asked to summarise, it says nothing. `abortSignal` is honoured: the call or the stream
 * fails with the signal's reason.
 */
export function createOfflineModel(options: OfflineModelOptions = {}): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "offline",
    modelId: "planner",
    supportedUrls: {},
    async doGenerate(call) {
      call.abortSignal?.throwIfAborted();
      const { content, finishReason, usage, warnings } = nextStep(call, options);
      return { content, finishReason, usage, warnings, response: { modelId: "planner" } };
    },
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      return {
        stream: pulledStream(streamParts(nextStep(call, options)), call.abortSignal, options.beforeDelta),
      };
    },
  };
}

interface Step {
  readonly content: LanguageModelV3Content[];
  readonly finishReason: { unified: "stop" | "tool-calls"; raw: string };
  readonly usage: LanguageModelV3Usage;
  readonly warnings: SharedV3Warning[];
}

function nextStep(call: LanguageModelV3CallOptions, { languageModelHint }: OfflineModelOptions): Step {
  const transcript = readTranscript(call.prompt);
  const tools = call.toolChoice?.type === "none" ? [] : (call.tools ?? []);
  const names = tools.flatMap((tool) => (tool.type === "function" ? [tool.name] : []));
  const { text, calls } = asksForSummary(call.prompt)
    ? { text: "", calls: [] }
    : decide(transcript, new Set(names), languageModelHint);
  const content: LanguageModelV3Content[] = [{ type: "text", text }];
  calls.forEach(({ tool, input }, index) => {
    const toolCallId = freshId(`offline_${call.prompt.length}_${index}`, transcript.usedIds);
    content.push({ type: "tool-call", toolCallId, toolName: tool, input: JSON.stringify(input) });
  });
  const written = content.reduce(
    (sum, part) =>
      sum + (part.type === "text" ? part.text.length : part.type === "tool-call" ? part.input.length : 0),
    0,
  );
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: estimateUsage(call.prompt, written),
    warnings: unsupported(call),
  };
}

/** A planner cannot summarise: who asks it to gets no words, and can keep what was asked instead. */
const asksForSummary = (prompt: LanguageModelV3Prompt): boolean =>
  prompt.some(({ role, content }) => role === "system" && content.startsWith("You summarise "));

/** The prompt grows with every step, so its length makes the id new, unless the prompt was shortened. */
function freshId(id: string, used: ReadonlySet<string>): string {
  let candidate = id;
  for (let suffix = 1; used.has(candidate); suffix += 1) candidate = `${id}_${suffix}`;
  return candidate;
}

function unsupported(call: LanguageModelV3CallOptions): SharedV3Warning[] {
  const features = [
    call.responseFormat?.type === "json" ? "responseFormat" : undefined,
    call.toolChoice?.type === "required" || call.toolChoice?.type === "tool" ? "toolChoice" : undefined,
  ];
  return features.flatMap((feature) =>
    feature === undefined ? [] : [{ type: "unsupported" as const, feature }],
  );
}

function* streamParts({
  content,
  finishReason,
  usage,
  warnings,
}: Step): Generator<LanguageModelV3StreamPart> {
  yield { type: "stream-start", warnings };
  yield { type: "response-metadata", modelId: "planner" };
  for (const part of content) {
    if (part.type === "text") {
      yield { type: "text-start", id: "text" };
      for (const delta of toDeltas(part.text)) yield { type: "text-delta", id: "text", delta };
      yield { type: "text-end", id: "text" };
    } else if (part.type === "tool-call") {
      const { toolCallId, toolName, input } = part;
      yield { type: "tool-input-start", id: toolCallId, toolName };
      yield { type: "tool-input-delta", id: toolCallId, delta: input };
      yield { type: "tool-input-end", id: toolCallId };
      yield part;
    }
  }
  yield { type: "finish", usage, finishReason };
}

/** Cuts a string between words into pieces; joined, they are the string again. */
function toDeltas(text: string): string[] {
  const deltas: string[] = [];
  let delta = "";
  for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
    delta += word;
    if (delta.length >= minDeltaChars) {
      deltas.push(delta);
      delta = "";
    }
  }
  return delta === "" ? deltas : [...deltas, delta];
}

/** A stream that makes its next part when it is asked for one. */
function pulledStream(
  parts: Iterator<LanguageModelV3StreamPart>,
  signal: AbortSignal | undefined,
  beforeDelta: OfflineModelOptions["beforeDelta"],
): ReadableStream<LanguageModelV3StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        const next = parts.next();
        if (next.done === true) {
          controller.close();
          return;
        }
        if (next.value.type === "text-delta") await beforeDelta?.({ signal });
        // Thrown here, the reason becomes the stream's error.
        signal?.throwIfAborted();
        controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The average that is assumed, because there is no tokenizer here. */
const charsPerToken = 4;

const maxDepth = 12;

/** Counts of tokens, estimated as a quarter of the characters. */
function estimateUsage(prompt: LanguageModelV3Prompt, outputChars: number): LanguageModelV3Usage {
  const input = Math.ceil(charsIn(prompt, 0) / charsPerToken);
  const output = Math.ceil(outputChars / charsPerToken);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function charsIn(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return value === undefined ? 0 : 4;
  if (depth > maxDepth || ArrayBuffer.isView(value)) return 0;
  return Object.values(value).reduce((sum: number, entry) => sum + charsIn(entry, depth + 1), 0);
}
