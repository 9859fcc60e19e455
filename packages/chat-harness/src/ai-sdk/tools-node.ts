import type { NodeContext } from "@harnesskit/graph";
import type { ToolCall } from "@harnesskit/protocol/chat";
import { digest } from "@harnesskit/wire";
import type { ApprovalRequest } from "./approval.ts";
import { type FoundCall, findCall } from "./arrange-history.ts";
import { CallResults, signalIdOf } from "./call-results.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, QueuedCall, WaitingCall } from "./chat-state.ts";
import type { CallFailure } from "./failure-text.ts";
import { checkInput, needsApproval, runTool } from "./run-tool.ts";

type Context = NodeContext<ChatGraphFields>;

/** What is to be done with a call. */
type Plan =
  | { readonly kind: "fail"; readonly failure: CallFailure }
  | { readonly kind: "ask"; readonly request: ApprovalRequest }
  | { readonly kind: "run"; readonly run: () => Promise<string> };

const fail = (failure: CallFailure): Plan => ({ kind: "fail", failure });

export const unknownTool = (name: string, { tools }: ChatSettings): CallFailure => {
  const known = Object.keys(tools);
  const others = known.length === 0 ? "There are no tools." : `There are: ${known.join(", ")}.`;
  return {
    status: "not_run",
    code: "unknown_tool",
    message: `There is no tool ${JSON.stringify(name)}. ${others}`,
  };
};

const toRequest = async ({ id, name, arguments: input }: ToolCall): Promise<ApprovalRequest | undefined> => {
  try {
    const bound = await digest({ tool: name, input });
    return { kind: "tool_approval", tool: name, call_id: id, input, digest: bound };
  } catch {
    return undefined;
  }
};

const planCall = async (
  { call }: FoundCall,
  { problem }: QueuedCall,
  { chat, state, context }: { chat: ChatSettings; state: ChatState; context: Context },
): Promise<Plan> => {
  const tool = chat.tools[call.name];
  if (tool === undefined) return fail(unknownTool(call.name, chat));
  const unusable = (message: string) => fail({ status: "not_run", code: "invalid_input", message });
  if (problem !== null) return unusable(`The input cannot be used: ${problem}`);
  const checked = await checkInput(tool, call.arguments);
  if ("failure" in checked) return fail(checked.failure);
  const run = { chat, call, messages: state.messages, signal: context.signal };
  const needed = await needsApproval(tool, checked.input, run);
  if (typeof needed === "object") return fail(needed);
  if (!needed) return { kind: "run", run: () => runTool(tool, checked.input, run) };
  const request = await toRequest(call);
  // Nobody could be sure of what they approve.
  return request === undefined
    ? unusable("The input holds a text that is no Unicode, or is nested too deeply.")
    : { kind: "ask", request };
};

/**
 * Runs the calls that are open, one after the other as the model asked for them, up to the first that needs an
 * approval. Those behind it wait as well.
 */
export const toolsNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: Context): Promise<ChatUpdate> => {
    const results = new CallResults(chat, state, context);
    for (const [index, queued] of state.queue.entries()) {
      const { id } = queued;
      context.signal.throwIfAborted();
      const found = findCall(state.messages, id);
      if (found === undefined || found.hasResult) continue;
      if (await results.addInterrupted(found)) continue;
      const plan = await planCall(found, queued, { chat, state, context });
      if (plan.kind === "ask") {
        const waiting: WaitingCall = {
          id,
          signal_id: signalIdOf(context, state, found),
          request: plan.request,
        };
        return { ...results.update, queue: state.queue.slice(index + 1), waiting };
      }
      const { call } = found;
      if (plan.kind === "run") await results.run(found, call.arguments, plan.run);
      else await results.add(call, plan.failure);
    }
    return { ...results.update, queue: [] };
  };
