import type { ToolContext } from "@harnesskit/wire/tool";
import type { CallOptions } from "../call-options.ts";
import type { CallResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { ToolInfo } from "../judge-tool.ts";

export interface ToolHostCallOptions extends CallOptions {
  /** The call has no effect: it is repeated if its agent is lost. @default false */
  readonly isRepeatable?: boolean | undefined;
  /** A human's approval of exactly this call: a tool that requires a directive gets one for it, to be used once. @default none */
  readonly approval?: ToolContext["approval"] | undefined;
}

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  /** Agents whose tools are left out, and not waited for. @default none */
  readonly without?: readonly string[] | undefined;
}

/** What conversations need of a core: here, or in another process. */
export interface ToolHost {
  /** The tools of the agents that are ready. Waits for those that start, within a bound. Never rejects. */
  tools(options?: ListOptions): Promise<readonly ToolInfo[]>;
  /** How such a call would be refused now, before its agent receives it, or undefined. Never rejects. */
  check(toolId: string, input: unknown, options: CallOptions): Promise<CallResult | undefined>;
  /**
   * Calls a tool, `AGENT/NAME`, once its agent is ready. A call that the agent did not receive is repeated; one that it
   * received is not, unless it is repeatable. Never rejects.
   */
  call(
    toolId: string,
    input: unknown,
    options: ToolHostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult>;
}
