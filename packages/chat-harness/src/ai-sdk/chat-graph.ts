import { type CompiledGraph, type CompileOptions, defineGraph, END } from "@harnesskit/graph";
import { checkChatGraphOptions } from "../option-names.ts";
import { askNode, settleNode } from "./approval-nodes.ts";
import { type ChatGraphOptions, toChatSettings } from "./chat-graph-options.ts";
import { type ChatGraphFields, type ChatState, chatState } from "./chat-state.ts";
import { modelNode } from "./model-node.ts";
import { toolsNode } from "./tools-node.ts";

/** The graph of a conversation, which a chat harness compiles. */
export interface ChatGraph {
  /** Compiles it. Of its state the session keeps the messages and which calls were begun, whatever `session.fields` says. */
  compile(options?: CompileOptions<ChatGraphFields>): CompiledGraph<ChatGraphFields>;
}

const afterModel = ({ queue }: ChatState) => (queue.length > 0 ? "tools" : END);
const afterTools = ({ waiting }: ChatState) => (waiting === null ? "model" : "ask");
const afterAnswer = ({ waiting, queue }: ChatState) => {
  if (waiting !== null) return "ask";
  return queue.length > 0 ? "tools" : "model";
};

/**
 * A chat graph over any model of the AI SDK, for `createChatHarness({ graph })`: asks the model, and runs the tools that it
 * calls until it calls none. A call whose tool needs an approval pauses the turn (section "Composition with
 * suspension"): the message that asks for it is stored, and the signal's payload, made by `toApprovalPayload`, has it
 * run, or rejected. Each call runs once: what was done before a pause is not done again behind it.
 *
 * The model receives the failure of a tool. A failure of the model fails the turn with a `ChatModelError`, whose `category` is
 * one of the specification's. Throws `invalid_argument` for options that are not valid.
 */
export const createChatGraph = (options: ChatGraphOptions): ChatGraph => {
  checkChatGraphOptions(options);
  const chat = toChatSettings(options);
  const graph = defineGraph(chatState)
    // Calls of tools are effects of their nodes.
    .node("model", modelNode(chat), { idempotent: true })
    .node("tools", toolsNode(chat), { idempotent: true })
    .node("ask", askNode, { idempotent: true })
    .node("settle", settleNode(chat), { idempotent: true })
    .entry("model")
    .conditionalEdge("model", afterModel)
    .conditionalEdge("tools", afterTools)
    .edge("ask", "settle")
    .conditionalEdge("settle", afterAnswer);
  return {
    compile: (compile = {}) =>
      graph.compile({ ...compile, session: { ...compile.session, fields: ["messages", "begun_calls"] } }),
  };
};
