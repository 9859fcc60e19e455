import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
} from "@ai-sdk/provider";
import { createOfflineModel } from "../src/index.ts";

const toolNames = ["bash", "read", "write", "edit", "glob", "grep"] as const;

export const functionTools = (names: readonly string[] = toolNames): LanguageModelV3FunctionTool[] =>
  names.map((name) => ({ type: "function", name, inputSchema: { type: "object" } }));

export const userMessage = (text: string): LanguageModelV3Message => ({
  role: "user",
  content: [{ type: "text", text }],
});

export const json = (value: unknown) => ({ type: "json", value }) as LanguageModelV3ToolResultOutput;

export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

export interface LoopResult {
  readonly calls: Call[];
  readonly texts: string[];
  readonly answer: string;
  readonly messages: LanguageModelV3Message[];
}

const textOf = (content: readonly LanguageModelV3Content[]) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** An agent loop of a few lines: asks the model, answers its calls with `respond`, until it calls nothing more. */
export async function runLoop(
  request: string,
  respond: (call: Call) => LanguageModelV3ToolResultOutput | undefined,
  options: {
    history?: LanguageModelV3Message[];
    tools?: readonly string[];
    call?: Partial<LanguageModelV3CallOptions>;
    maxSteps?: number;
  } = {},
): Promise<LoopResult> {
  const model = createOfflineModel();
  const messages = [...(options.history ?? []), userMessage(request)];
  const calls: Call[] = [];
  const texts: string[] = [];
  for (let step = 0; step < (options.maxSteps ?? 100); step += 1) {
    const { content, finishReason } = await model.doGenerate({
      prompt: messages,
      tools: functionTools(options.tools),
      ...options.call,
    });
    texts.push(textOf(content));
    const made = content.flatMap((part) =>
      part.type === "tool-call"
        ? [{ id: part.toolCallId, tool: part.toolName, input: JSON.parse(part.input) }]
        : [],
    );
    if (finishReason.unified === "stop") {
      return {
        calls,
        texts,
        answer: texts.at(-1) ?? "",
        messages: [...messages, assistant(texts.at(-1), [])],
      };
    }
    calls.push(...made);
    messages.push(assistant(texts.at(-1), made));
    const results = made.flatMap((call) => {
      const output = respond(call);
      return output === undefined
        ? []
        : [{ type: "tool-result" as const, toolCallId: call.id, toolName: call.tool, output }];
    });
    if (results.length > 0) messages.push({ role: "tool", content: results });
  }
  throw new Error("the model did not come to an end");
}

function assistant(text: string | undefined, calls: readonly Call[]): LanguageModelV3Message {
  return {
    role: "assistant",
    content: [
      { type: "text", text: text ?? "" },
      ...calls.map(({ id, tool, input }) => ({
        type: "tool-call" as const,
        toolCallId: id,
        toolName: tool,
        input,
      })),
    ],
  };
}

/** A workspace in memory: the tools' answers for a set of files. */
export function workspace(files: Record<string, string>, commands: Record<string, unknown> = {}) {
  return (call: Call): LanguageModelV3ToolResultOutput => {
    const { path, pattern, command } = call.input as Record<string, string>;
    switch (call.tool) {
      case "read": {
        const text = files[path ?? ""];
        if (text === undefined) return { type: "error-text", value: `ENOENT: no such file: ${path}` };
        const total = text.split("\n").length;
        return json({ path, text, lines: { from: 1, to: total, total } });
      }
      case "glob": {
        const name = /^\*\*\/(.+)\*$/.exec(pattern ?? "")?.[1];
        const inside = Object.keys(files).filter((file) => path === undefined || file.startsWith(`${path}/`));
        const found = inside.filter((file) =>
          name !== undefined
            ? (file.split("/").at(-1) ?? "").startsWith(name)
            : pattern === "**/*" || !file.includes("/"),
        );
        return json({ paths: found });
      }
      case "grep": {
        const expression = new RegExp(pattern ?? "");
        const matches = Object.entries(files).flatMap(([file, text]) =>
          text
            .split("\n")
            .flatMap((line, index) =>
              expression.test(line) ? [{ path: file, line: index + 1, text: line }] : [],
            ),
        );
        return json({ matches });
      }
      case "bash":
        return json(commands[command ?? ""] ?? { exitCode: 127, stdout: "", stderr: "command not found" });
      case "write":
        files[path ?? ""] = String(call.input.content);
        return json({ path, bytes: Buffer.byteLength(String(call.input.content)) });
      default: {
        const { oldText, newText } = call.input as Record<string, string>;
        files[path ?? ""] = (files[path ?? ""] ?? "").replace(oldText ?? "", newText ?? "");
        return json({ path, replacements: 1 });
      }
    }
  };
}
