import { type CompiledGraph, type CompileOptions, defineGraph, END, thrownMessage } from "@harnesskit/graph";
import { callSafely, warnPlatform } from "@harnesskit/wire";
import { checkChatGraphOptions } from "../option-names.ts";
import type { GraphSource } from "../options.ts";
import { askNode, settleNode } from "./approval-nodes.ts";
import { type ChatGraphOptions, type ChatSettings, toChatSettings } from "./chat-graph-options.ts";
import { type ChatGraphFields, type ChatState, chatState } from "./chat-state.ts";
import { modelNode } from "./model-node.ts";
import { toolsNode } from "./tools-node.ts";

/** The graph of a conversation, which a chat harness compiles. */
export interface ChatGraph extends GraphSource<ChatGraphFields> {
  /** Compiles it. Of its state the session keeps the messages, their summary and which calls were begun, whatever `session.fields` says. */
  compile(options?: CompileOptions<ChatGraphFields>): CompiledGraph<ChatGraphFields>;
}

const afterModel = ({ queue }: ChatState) => (queue.length > 0 ? "tools" : END);
const afterTools = ({ waiting }: ChatState) => (waiting.length === 0 ? "model" : "ask");

const chatGraphOf = (chat: ChatSettings) =>
  defineGraph(chatState)
    // Calls of tools are effects of their nodes.
    .node("model", modelNode(chat), { idempotent: true })
    .node("tools", toolsNode(chat), { idempotent: true })
    .node("ask", askNode, { idempotent: true })
    .node("settle", settleNode, { idempotent: true })
    .entry("model")
    .conditionalEdge("model", afterModel)
    .conditionalEdge("tools", afterTools)
    .edge("ask", "settle")
    .edge("settle", "tools");

/**
 * A chat graph over any model of the AI SDK, for `createChatHarness({ graph })`: asks the model, and runs the tools that it
 * calls until it calls none. A call whose tool needs an approval pauses the turn (section "Composition with
 * suspension"): the message that asks for it is stored, and the signal's payload, made by `toApprovalPayload`, has it
 * run, or rejected. All calls of a step that need one are asked about together (`approvalRequestsOf`), and each is answered by itself;
 * what runs keeps the order of the calls, and those that only read run side by side. Each call runs once: what was done before a pause is not done again behind it.
 *
 * The model receives the failure of a tool: the message of a `ToolError`; of anything else that a tool throws only that it failed, and
 * `onError` of the harness the error. A failure of the model fails the turn with a `ChatModelError`, whose `category` is
 * one of the specification's. Throws `invalid_argument` for options that are not valid.
 */
export const createChatGraph = (options: ChatGraphOptions): ChatGraph => {
  const chat = toChatSettings(checkChatGraphOptions(options));
  return {
    compaction: {
      initial: { compaction: "asked" },
      madeIn({ compaction, summary }) {
        if (compaction !== "made" || summary === null) return null;
        const { through: _, ...made } = summary;
        return made;
      },
    },
    compile(compile = {}) {
      const { onError = (cause, context) => warnPlatform("GraphWarning", { ...context, cause }) } = compile;
      const report = (error: unknown, tool: string): void => {
        const message = `the tool ${tool} threw: ${thrownMessage(error)}`;
        callSafely(() => onError(error, { kind: "tool_failed", message }));
      };
      const session = { ...compile.session, fields: ["messages", "begun_calls", "summary"] as const };
      return chatGraphOf({ ...chat, report }).compile({ ...compile, session });
    },
  };
};
