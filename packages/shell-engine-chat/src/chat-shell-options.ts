import type { ApprovalRequest, ChatHarness } from "@harnesskit/chat-harness";
import type { RiskTier } from "@harnesskit/protocol/openharness";
import type { MaybePromise, ShellCall, ShellEngineOptions, ShellHandlers } from "@harnesskit/shell-engine";
import type { ShellAttachments } from "./attached-message.ts";
import type { RenderToolResult } from "./tool-result.ts";

/** What is used of a chat harness. */
export type ChatConversations = Pick<ChatHarness, "send" | "signal" | "pending" | "acknowledge" | "recover">;

/** How a user is asked. What is left out is as by default. */
export interface ApprovalLook {
  /** @default "Run TOOL?" */
  readonly title?: string;
  /** @default that the tool waits for an approval, and why it is asked again */
  readonly message?: string;
  /** What it would mean to be wrong; shells have policies by it. @default "caution" */
  readonly riskTier?: RiskTier;
}

export interface ChatShellOptions<Context = unknown> extends Omit<ShellEngineOptions<Context>, "handlers"> {
  /** The conversations. Its owner calls its `recover` at the start, and closes it after the engine. */
  readonly harness: ChatConversations;
  /** What answers requests that name a SOP, a plugin or a business key. @default as an engine without them */
  readonly handlers?: Omit<ShellHandlers<Context>, "intent"> | undefined;
  /**
   * The harness's session of a request. Two users must not get the same one.
   * @default `conversation.key`: one for each credential, session and thread; its digest where that is long
   */
  readonly sessionIdOf?: ((call: ShellCall<Context>) => MaybePromise<string>) | undefined;
  /**
   * Gives the model what a request's attachments hold, images and text, and offers `openharness.attachments.upload`.
   * @default attachments are not read, which the user is shown for each of them
   */
  readonly attachments?: ShellAttachments<Context> | undefined;
  /**
   * What is shown of a tool's result. What it throws fails the request.
   * @default a card with its beginning where the shell has rich cards, else nothing: the assistant tells what it found
   */
  readonly render?: RenderToolResult<Context> | undefined;
  /** How the user is asked for an approval. What is approved is in the question, whatever this says. @default see each field */
  readonly describeApproval?: ((request: ApprovalRequest) => ApprovalLook) | undefined;
}
