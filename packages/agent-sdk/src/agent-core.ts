import { BoundedSet, callSafely, type HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { AgentSettings } from "./agent-options.ts";
import { OutputFiles } from "./output-files.ts";
import type { Session } from "./session.ts";
import { type CompiledTool, compileTool, type Tool } from "./tool.ts";

/** The tools of an agent by name. */
export class ToolTable {
  readonly #agentId: string;
  readonly #tools = new Map<string, CompiledTool>();

  constructor(agentId: string, tools: readonly Tool[]) {
    this.#agentId = agentId;
    this.add(tools);
  }

  get all(): CompiledTool[] {
    return [...this.#tools.values()];
  }

  /** By `<agent_id>/<name>`. */
  byId(toolId: string): CompiledTool | undefined {
    return this.#tools.get(toolId);
  }

  idOf(name: string): string {
    return `${this.#agentId}/${name}`;
  }

  /** Throws `invalid_argument` when a name is there already; then nothing was added. */
  add(tools: readonly Tool[]): void {
    const names = tools.map(({ name }) => name);
    const taken = names.find((name, at) => names.indexOf(name) !== at || this.#tools.has(this.idOf(name)));
    if (taken !== undefined) {
      throw new InvalidArgumentError(`the agent has a tool ${taken} already; unregister it first`);
    }
    for (const tool of tools.map(compileTool)) this.#tools.set(this.idOf(tool.name), tool);
  }

  /** Makes all schemas ready. Rejects with `invalid_argument` for one that is not valid. */
  async load(): Promise<void> {
    await Promise.all(this.all.map((tool) => tool.load()));
  }

  /** Returns the names that were there. */
  remove(names: readonly string[]): string[] {
    return names.filter((name) => this.#tools.delete(this.idOf(name)));
  }
}

/** What all connections of one agent share. */
export class AgentCore {
  readonly settings: AgentSettings;
  readonly tools: ToolTable;
  /** Tools that run, for calls of all connections. */
  runningTools = 0;
  /** Those of them whose results were sent. */
  abandonedTools = 0;
  /** Undefined where outputs that are too large fail. */
  readonly outputFiles: OutputFiles | undefined;
  readonly startedMs: number;
  readonly sessions = new Set<Session>();
  isStopping = false;
  /** Receives errors where the agent's author gave no `onError`. */
  fallbackReport: ((error: HarnessError) => void) | undefined;
  /** Ends a run that waits or connects. */
  interruptRun: (() => void) | undefined;
  /** Of the last connections. Secret. */
  readonly tokens = new BoundedSet<string>({ maxSize: 16 });
  readonly #idle: (() => void)[] = [];

  constructor(settings: AgentSettings) {
    this.settings = settings;
    this.tools = new ToolTable(settings.id, settings.tools ?? []);
    this.startedMs = settings.clock.elapsedMs();
    this.outputFiles = (settings.outputFiles ?? true) ? new OutputFiles() : undefined;
  }

  get clock() {
    return this.settings.clock;
  }
  get limits() {
    return this.settings.limits;
  }
  /** How long an aborted tool may take to end. */
  get graceMs() {
    return this.settings.cancelGraceMs;
  }

  /** The message without any token in it. */
  readonly redact = (text: string): string => {
    let redacted = text;
    for (const token of this.tokens) redacted = redacted.replaceAll(token, "[redacted]");
    return redacted;
  };

  /** A tool has ended, whose call was settled before. */
  toolEnded(): void {
    this.abandonedTools--;
    if (--this.runningTools > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Settles when no tool runs, or after the grace. */
  async whenIdle(): Promise<void> {
    if (this.runningTools === 0) return;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    const { clock, graceMs: timeoutMs } = this;
    await settleWithin(idle, { name: "idle", timeoutMs, clock, holdsProcess: false });
  }

  /** Ends all connections: their calls are aborted and have their results; then the output files are removed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.interruptRun?.();
    try {
      await Promise.all([...this.sessions].map((session) => session.stop(this.graceMs)));
      await this.whenIdle();
      await this.outputFiles?.close();
    } finally {
      this.isStopping = false;
    }
  }

  /** Reports a failure outside of a call's result. Never throws. */
  report(error: HarnessError): void {
    callSafely(() => (this.settings.onError ?? this.fallbackReport)?.(error));
  }
}
