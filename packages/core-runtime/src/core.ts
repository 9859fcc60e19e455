import type { Channel, WatchOptions } from "@harnesskit/wire";
import type { Admission, Launch, LaunchObserver } from "./admissions.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import type { Directives } from "./directives.ts";
import type { ToolInfo } from "./judge-tool.ts";
import type { LaunchedAgent } from "./launch/launched-agent.ts";
import type { AgentInfo } from "./session.ts";

/** The core of the runtime protocol: runs agents, knows their tools, and calls them. */
export interface RunningCore extends AsyncDisposable {
  /** Serves one agent that was admitted, on a channel that was not started yet. A core that is closing closes it. */
  connect(channel: Channel): void;
  /**
   * Lets one launch connect once, with a token that is issued here. Throws `invalid_argument` for an agent id
   * that cannot be used, `connection_closed` when the core is closing.
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
  /** The agents that have a session. */
  agents(): readonly AgentInfo[];
  /**
   * Asks an agent whether it is there. Resolves with the milliseconds that the answer took. Rejects with
   * `connection_closed` when the agent has no session or loses it, `request_timeout` after `timeoutMs`. @default 5000
   */
  ping(agentId: string, options?: { readonly timeoutMs?: number }): Promise<number>;
  /**
   * Says goodbye to an agent and closes its connection; its running calls end with `agent.lost`. Returns false
   * when the agent has no session.
   */
  goodbye(agentId: string, options: { readonly reason: string }): boolean;
  /** Takes no more calls, lets those that run and wait finish for at most `timeoutMs`, and closes. @default 30000 */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** The Unix socket to which its agents connect. */
  readonly socketPath: string;
  /**
   * Starts the agent of a directory by its `opensentience.agent.json`, and resolves when it has registered its tools.
   * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid`, with `agent_exists`
   * when an agent with its id runs, with `agent_start_failed` (see `ready()`)
   * or `core_stopped`.
   */
  launch(directory: string): Promise<LaunchedAgent>;
  /**
   * Ends an agent: refuses further calls, waits `drainTimeoutMs` for those that it has, sends goodbye, SIGTERM after
   * `goodbyeGraceMs`, and kills what is left after `stopGraceMs`. Settles when nothing of it is left. Rejects with
   * `agent_unknown`.
   */
  stop(agentId: string): Promise<void>;
  /**
   * Ends an agent like `stop()` if it runs, and starts it by what its manifest says now; also one that was
   * given up. Resolves and rejects like `launch()`; when the manifest cannot be used, the agent runs on.
   */
  restart(agentId: string): Promise<LaunchedAgent>;
  /**
   * Resolves when each agent has registered its tools. Rejects with an `AgentsNotReadyError` (`agents_not_ready`) as
   * soon as each did or failed: `errors` has an `AgentStartError` (`agent_start_failed`) for each that failed, with the
   * reason, its exit and the last lines of its standard error. An agent that waits for its next start by the policy is
   * judged by that start. With `agentId` only that agent is waited for; `agent_unknown` if it was not launched.
   */
  ready(agentId?: string): Promise<void>;
  /** The state of each agent that was launched, stopped ones included. */
  launched(): readonly LaunchedAgent[];
  /**
   * The state of each launched agent, and each change; of an agent, a slow reader gets the newest state only. Throws
   * `buffer_full` when there are 256 readers.
   */
  health(options?: WatchOptions): AsyncIterableIterator<LaunchedAgent>;
  /**
   * Ends every call with `core.closed`, sends goodbye, ends all agents like `stop()` without waiting for
   * calls, and removes the socket. Settles when nothing is left. Idempotent.
   */
  close(): Promise<void>;
  /** Settles when the core has closed. */
  readonly closed: Promise<void>;
}
