import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { judgeRequest } from "./judge-request.ts";

type Model = ReturnType<ReturnType<typeof createOpenAICompatible>>;
type CallOptions = Parameters<Model["doStream"]>[0];
type Message = CallOptions["prompt"][number];

const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map(({ type, text }) => (type === "text" ? text : "")).join("");

const toOpenAi = ({ role, content }: Message): object[] => {
  switch (role) {
    case "system":
      return [{ role, content }];
    case "user":
      return [{ role, content }];
    case "assistant": {
      const calls = content.flatMap((part) =>
        part.type === "tool-call"
          ? { id: part.toolCallId, function: { name: part.toolName, arguments: JSON.stringify(part.input) } }
          : [],
      );
      return [{ role, content: textOf(content), ...(calls.length > 0 && { tool_calls: calls }) }];
    }
    case "tool":
      return content.flatMap((part) => {
        if (part.type !== "tool-result") return [];
        const { output } = part;
        const text = "value" in output ? output.value : (output.reason ?? "denied");
        const said = typeof text === "string" ? text : JSON.stringify(text);
        return { role, tool_call_id: part.toolCallId, content: said };
      });
  }
};

/** Why a provider would refuse what a double of a model is asked; undefined for what it would take. */
export const judgePrompt = ({ prompt, tools = [] }: CallOptions): string | undefined =>
  judgeRequest("/v1/chat/completions", {
    messages: prompt.flatMap(toOpenAi),
    tools: tools.map((tool) => ({
      function: tool.type === "function" ? { ...tool, parameters: tool.inputSchema } : tool,
    })),
  });
