import {
  type Agent,
  type AgentOptions,
  defineAgent,
  type RejectedTool,
  type RunEnd,
  type RunOptions,
  type Tool,
} from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { displayText, type HarnessError } from "@harnesskit/wire";
import { settleWithin, within } from "@harnesskit/wire/time";
import { ToolError } from "@harnesskit/wire/tool";
import { toAgentTool } from "./agent-tool.ts";
import { toCallError, toOutput } from "./call-result.ts";
import { McpError } from "./errors.ts";
import { agentLimitsOf, limitsUnder } from "./limits.ts";
import { McpLink } from "./link.ts";
import { type McpTool, type McpToolList, withoutPart } from "./mcp-tool.ts";
import { checkMcpAgentOptions } from "./option-names.ts";
import { limitReports } from "./report-budget.ts";
import { type ServerOptions, type ServerSetup, toServerSetup } from "./server-setup.ts";

export interface McpAgentOptions extends Pick<AgentOptions, "id">, ServerOptions {
  /** @default "1.0.0" */
  readonly version?: string | undefined;
  /**
   * The tools that were accepted: the digest of each by the agent's name of it. A tool with another digest, or none, is not
   * offered, and is reported. @default all tools are offered
   */
  readonly acceptedTools?: Readonly<Record<string, string>> | undefined;
  /** The tools that are offered, by the server's names. @default all tools */
  readonly tools?: readonly string[] | undefined;
  /** Receives each fault, loss and change of the server (see `McpErrorCode`). @default ignored; `run` writes lines to stderr */
  readonly onError?: ((error: HarnessError) => void) | undefined;
}

/** An agent whose tools are those of an MCP server. Its own tools are the server's: it registers and unregisters them. */
export interface McpAgent extends Pick<Agent, "id" | "connect" | "call" | "stop"> {
  /**
   * Starts the server or connects to it; it is started again whenever it is lost. Settles when its tools are there. Rejects
   * with `mcp.server_unavailable`, `mcp.server_refused`, `mcp.legacy_sse` and `mcp.environment_missing`; it is tried further, until
   * `stop`.
   */
  start(): Promise<void>;
  /**
   * Starts the server and serves the core that started this process, as `Agent.run` does. A server that takes longer than
   * `startWaitMs` has its tools registered later. Rejects as `start` and `Agent.run` do, with everything ended.
   */
  run(options?: RunOptions): Promise<RunEnd>;
}

/** Bytes that may wait for a slow reader of the agent's standard error. */
const maxWaitingOutput = 1024 * 1024;

/** Parts of one tool's schemas that are left out, one after the other. */
const maxRepairs = 16;

class ServedMcpServer implements McpAgent {
  readonly #agent: Agent;
  readonly #link: McpLink;
  readonly #setup: ServerSetup;
  readonly #report: (error: HarnessError) => void;
  readonly #options: McpAgentOptions;
  /** What is offered now, by the agent's name. */
  readonly #offered = new Map<string, McpTool>();
  #fallback: ((line: string) => void) | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: McpAgentOptions) {
    const { id, version = "1.0.0", env = process.env } = options;
    const setup = toServerSetup(options, limitsUnder(env, options.limits));
    const { limits, clock } = setup;
    this.#options = options;
    this.#setup = setup;
    this.#report = limitReports(limits.maxReports, clock, (error) => this.#passOn(error));
    this.#link = new McpLink({
      ...setup,
      onTools: (list) => this.#take(list),
      onReport: this.#report,
      onOutput: (line) => (options.onOutput ?? this.#fallback)?.(line),
    });
    this.#agent = defineAgent({
      id,
      version,
      clock,
      limits: agentLimitsOf(limits),
      health: () => {
        const { state, restarts } = this.#link;
        const details = { mcp_server: state, mcp_restarts: restarts };
        return { status: state === "up" ? "ok" : "degraded", details };
      },
      onError: this.#report,
      onRejected: (rejected) => this.#rejected(rejected),
    });
  }

  get id(): string {
    return this.#agent.id;
  }

  connect: Agent["connect"] = (channel, options) => this.#agent.connect(channel, options);
  call: Agent["call"] = (name, input, options) => this.#agent.call(name, input, options);

  start(): Promise<void> {
    this.#starting ??= this.#link.start();
    return this.#starting;
  }

  async run(options: RunOptions = {}): Promise<RunEnd> {
    this.#fallback = (line) => {
      // What a slow reader would have to wait for is dropped.
      if (process.stderr.writableLength < maxWaitingOutput)
        process.stderr.write(`agent ${this.id}: ${line}\n`);
    };
    try {
      const timeoutMs = this.#setup.times.startWaitMs;
      const settled = await settleWithin(this.start(), { name: "start", timeoutMs });
      if (settled.status === "failed") throw settled.error;
      // The server may take as long to end.
      return await this.#agent.run({ ...options, exitGraceMs: options.exitGraceMs ?? 5000 });
    } finally {
      await this.#link.close();
      this.#fallback = undefined;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#agent.stop(), this.#link.close()]);
  }

  /** Registers what is new, and takes away what is gone or is another tool now. Never rejects. */
  async #take({ tools, dropped }: McpToolList): Promise<void> {
    for (const error of dropped) this.#report(error);
    const chosen = this.#choose(tools).filter((found) => this.#isAccepted(found));
    const listed = new Map(chosen.map((found) => [found.name, found]));
    const changed = [...this.#offered.values()].filter(
      ({ name, digest }) => listed.get(name)?.digest !== digest,
    );
    for (const { name } of changed) {
      this.#offered.delete(name);
      if (!listed.has(name)) continue;
      const text = `the MCP server changed its tool ${name}: calls of the former one are refused, and it is registered anew`;
      this.#report(new McpError("mcp.tool_changed", text));
    }
    if (changed.length > 0) this.#agent.unregister(...changed.map(({ name }) => name));
    const added = [...listed.values()].filter(({ name }) => !this.#offered.has(name));
    const made = added.flatMap((found) => this.#toTool(found));
    for (const found of added) {
      if (made.some(({ name }) => name === found.name)) this.#offered.set(found.name, found);
    }
    await this.#register(made);
  }

  async #register(made: readonly Tool[], round = 0): Promise<void> {
    if (made.length === 0) return;
    try {
      const { rejected } = await this.#agent.register(...made);
      await this.#rejected(rejected, round);
    } catch (error) {
      this.#report(error as HarnessError);
    }
  }

  /** A tool is offered without the part of its schemas that a core does not take, or else not at all. */
  async #rejected(rejected: readonly RejectedTool[], round = 0): Promise<void> {
    const again: Tool[] = [];
    for (const { tool_id: toolId, error } of rejected) {
      const found = this.#offered.get(toolId.slice(this.id.length + 1));
      const repaired = found && round < maxRepairs && withoutPart(found, error.details?.path);
      if (!repaired) {
        this.#reportDropped(toolId, error.message);
        continue;
      }
      const text = `of the tool ${found.name} of the MCP server a part of a schema is left out: ${error.message}`;
      this.#report(new McpError("mcp.server_fault", displayText(text, { maxLength: 500 })));
      this.#agent.unregister(found.name);
      this.#offered.set(found.name, repaired);
      again.push(...this.#toTool(repaired));
    }
    await this.#register(again, round + 1);
  }

  /** What the operator chose. */
  #choose(found: readonly McpTool[]): readonly McpTool[] {
    const { tools } = this.#options;
    if (tools === undefined) return found;
    for (const name of tools.filter((name) => !found.some(({ mcpName }) => mcpName === name))) {
      this.#reportDropped(name, "the server has no tool of this name that can be used");
    }
    return found.filter(({ mcpName }) => tools.includes(mcpName));
  }

  #isAccepted({ name, digest }: McpTool): boolean {
    const { acceptedTools } = this.#options;
    if (acceptedTools === undefined || (Object.hasOwn(acceptedTools, name) && acceptedTools[name] === digest))
      return true;
    const isKnown = Object.hasOwn(acceptedTools, name);
    this.#reportDropped(name, isKnown ? "it is not the one that was accepted" : "it was not accepted");
    return false;
  }

  #toTool(found: McpTool): Tool[] {
    try {
      return [toAgentTool(found, (input, context) => this.#run(found, input, context))];
    } catch (error) {
      this.#reportDropped(found.name, error instanceof Error ? error.message : "its schema cannot be used");
      return [];
    }
  }

  async #run(
    found: McpTool,
    input: Record<string, unknown>,
    context: Parameters<Tool["run"]>[1],
    isRepeated = false,
  ): Promise<JsonObject> {
    const { signal, status } = context;
    const connection = await within(this.#link.current(), { name: "mcp", signal }).catch((error: unknown) => {
      if (!McpError.isInstance(error)) throw error;
      throw new ToolError("agent.unavailable", error.message, { retryable: true });
    });
    if (this.#offered.get(found.name)?.digest !== found.digest) {
      throw new ToolError(
        "mcp.tool_changed",
        "the MCP server changed or removed the tool after it was declared",
      );
    }
    const onStatus = (text: string) =>
      void status(displayText(this.#setup.secrets.redact(text), { maxLength: 500 }));
    try {
      const result = await connection.call(found, input, { signal, onStatus, isRepeated });
      return toOutput(result, this.#setup.limits, this.#setup.secrets);
    } catch (error) {
      const failure = toCallError(error, connection.isEnded, this.#setup.secrets);
      // A server that has forgotten the session did not run the call, if it says the truth: it has it once more, no oftener.
      if (isRepeated || !connection.isForgottenBy(error)) throw failure;
      await within(this.#link.reconnected(), { name: "mcp", signal }).catch(() => {});
      return this.#run(found, input, context, true).catch((later: ToolError) => {
        throw later.code === "agent.unavailable" ? failure : later;
      });
    }
  }

  #reportDropped(name: string, reason: string): void {
    const shown = displayText(name, { maxLength: 300 });
    const why = displayText(this.#setup.secrets.redact(reason), { maxLength: 500 });
    this.#report(
      new McpError("mcp.tool_dropped", `the tool ${shown} of the MCP server is not offered: ${why}`),
    );
  }

  #passOn(error: HarnessError): void {
    const { onError } = this.#options;
    if (onError) onError(error);
    else this.#fallback?.(displayText(`${error.code}: ${error.message}`, { maxLength: 2000 }));
  }
}

/**
 * Makes an agent of an MCP server. Starts nothing yet. Throws `mcp.config_invalid`, `mcp.environment_missing` and
 * `invalid_argument`.
 */
export const createMcpAgent = (options: McpAgentOptions): McpAgent =>
  new ServedMcpServer(checkMcpAgentOptions(options));
