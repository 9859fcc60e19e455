import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { CoreWelcome } from "@harnesskit/protocol/runtime";
import { type Channel, InvalidArgumentError } from "@harnesskit/wire";
import { AgentCore } from "./agent-core.ts";
import { type AgentOptions, toAgentSettings } from "./agent-options.ts";
import { callLocally, type LocalCallOptions } from "./local-call.ts";
import type { Registration } from "./opened-session.ts";
import { checkAgentOptions } from "./option-names.ts";
import { type RunEnd, type RunOptions, runAgent } from "./run.ts";
import { Session, type SessionEnd } from "./session.ts";
import { compileTool, type Tool } from "./tool.ts";

export interface AgentConnectOptions {
  /** The session token. Secret; sent in `agent.hello` and kept nowhere else. */
  readonly token: string;
}

/** An open connection to a core. */
export interface AgentSession extends Registration {
  readonly sessionId: string;
  readonly server: CoreWelcome["payload"]["server"];
  /** Settles when the connection has ended; never rejects. */
  readonly closed: Promise<SessionEnd>;
  /** Closes. Running calls are aborted with `connection_closed`. */
  close(): Promise<void>;
}

/** A tool process, or what one would be. */
export interface Agent {
  readonly id: string;
  /**
   * Serves the core that started this process, until it is gone. Takes socket and token from the environment, and the
   * token out of it. Rejects with `missing_environment`, `transport_failed`, the core's own code (refused),
   * `request_timeout`, `tools_rejected`, a `protocol.*` code and `connection_closed`; later ends are resolved.
   */
  run(options?: RunOptions): Promise<RunEnd>;
  /** Ends all connections as SIGTERM does: calls are aborted and answered, output files removed. Settles when done. */
  stop(): Promise<void>;
  /**
   * Serves a core on a channel of any kind, which was not started. Settles when the tools are registered; rejects as
   * `run` does, with the channel closed.
   */
  connect(channel: Channel, options: AgentConnectOptions): Promise<AgentSession>;
  /**
   * Calls a tool without a core: with the same validation, limits and streams. Resolves with the output, rejects with a
   * `ToolError` of the code that a core would get.
   */
  call(name: string, input: unknown, options?: LocalCallOptions): Promise<JsonObject | undefined>;
  /** Adds tools, also while it serves. Settles when the cores have answered. Throws `invalid_argument` for a name it has. */
  register(...tools: Tool[]): Promise<Registration>;
  /** Takes tools away by name, at once; calls of them that run go on. Returns the names that were there. */
  unregister(...names: string[]): string[];
}

/**
 * Makes an agent of its tools. Throws `invalid_argument` for an id, version, limit or time that cannot be used, and for
 * two tools of one name.
 */
export const defineAgent = (options: AgentOptions): Agent => {
  checkAgentOptions(options);
  const core = new AgentCore(toAgentSettings(options));
  let isRunning = false;

  return {
    id: core.settings.id,

    async run(runOptions = {}) {
      if (isRunning) throw new InvalidArgumentError("the agent is running already");
      isRunning = true;
      try {
        return await runAgent(core, runOptions);
      } finally {
        isRunning = false;
      }
    },

    stop: () => core.stop(),

    async connect(channel, { token }) {
      const session = new Session(core, channel, token);
      const { welcome, ...registration } = await session.open();
      return {
        ...registration,
        sessionId: welcome.session_id,
        server: welcome.server,
        closed: session.closed,
        close: () => session.close(),
      };
    },

    call: (name, input, callOptions = {}) => callLocally(core, name, input, callOptions),

    async register(...tools) {
      await Promise.all(tools.map((each) => compileTool(each).load()));
      core.tools.add(tools);
      const registrations = await Promise.all([...core.sessions].map((session) => session.register(tools)));
      return {
        registered: registrations.flatMap(({ registered }) => registered),
        rejected: registrations.flatMap(({ rejected }) => rejected),
      };
    },

    unregister(...names) {
      const removed = core.tools.remove(names);
      const toolIds = removed.map((name) => core.tools.idOf(name));
      if (toolIds.length > 0) for (const session of core.sessions) session.unregister(toolIds);
      return removed;
    },
  };
};
