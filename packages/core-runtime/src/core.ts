import type { Channel, WatchOptions } from "@harnesskit/wire";
import type { AgentInfo, SessionHealth } from "./agent-state.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import type { CoreOptions } from "./core-options.ts";
import type { Directives } from "./directives/directives.ts";
import type { ToolInfo } from "./judge-tool.ts";
import type { Admission, Launch, LaunchObserver } from "./launch-port.ts";
import { checkCoreOptions } from "./option-names.ts";
import { RuntimeCore } from "./runtime-core.ts";

/** The core of the runtime protocol: knows its agents and their tools, and calls them. Starts no process. */
export interface Core extends AsyncDisposable {
  /** Serves one agent on a channel that was not started yet. A core that is closing closes it. */
  connect(channel: Channel): void;
  /**
   * Lets one launch connect once, with a token that is issued here. Throws `invalid_argument` for a launch that cannot
   * be used or is admitted already, `buffer_full` when `maxAdmissions` are, `connection_closed` when the core is closing.
   */
  admit(launch: Launch, observer: LaunchObserver): Admission;
  /**
   * Calls a tool. Every outcome, a refusal too, is the call's result; throws `invalid_argument` for options that cannot
   * be used. `input` is checked against the tool's schema and must be a JSON object.
   */
  call(toolId: string, input: unknown, options?: CallOptions): ToolCall;
  /**
   * How a call of the tool with this input and these options would be refused now, or undefined: a directive that it needs
   * aside. `authorize` is asked; nothing is called, and nothing recorded. Rejects with `invalid_argument` like `call`.
   */
  check(toolId: string, input: unknown, options?: CallOptions): Promise<CallResult | undefined>;
  /** Issues and revokes the directives that its calls may use. */
  readonly directives: Directives;
  /** The tools of all agents that have a session. */
  tools(): readonly ToolInfo[];
  /**
   * The tools now, and again whenever they change; a slow reader gets the newest list only. Throws `buffer_full` when
   * there are `maxWatchers`.
   */
  watchTools(options?: WatchOptions): AsyncIterableIterator<readonly ToolInfo[]>;
  /** The agents that have a session. */
  agents(): readonly AgentInfo[];
  /**
   * How each agent is now, and each change; of an agent, a slow reader gets the newest state only. Throws
   * `buffer_full` when there are `maxWatchers`.
   */
  health(options?: WatchOptions): AsyncIterableIterator<SessionHealth>;
  /**
   * Asks an agent whether it is there. Resolves with the milliseconds that the answer took. Rejects with
   * `connection_closed` when the agent has no session or loses it, `request_timeout` after `timeoutMs`, `buffer_full`
   * when 16 pings wait for it. @default 5000
   */
  ping(agentId: string, options?: { readonly timeoutMs?: number }): Promise<number>;
  /**
   * Says goodbye to an agent and closes its connection; its running calls end with `agent.lost`. Returns false
   * when the agent has no session.
   */
  goodbye(agentId: string, options: { readonly reason: string }): boolean;
  /** Takes no more calls, lets those that run and wait finish for at most `timeoutMs`, and closes. @default 30000 */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Ends every call with `core.closed`, says goodbye and closes every connection. Settles when all are closed. */
  close(): Promise<void>;
  /** Settles when the core has closed. */
  readonly closed: Promise<void>;
}

/** Makes a core. Throws `invalid_argument` for options that cannot be used. */
export const createCore = (options: CoreOptions = {}): Core => new RuntimeCore(checkCoreOptions(options));
