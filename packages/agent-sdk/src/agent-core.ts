import { type HarnessError, quietly } from "@harnesskit/wire";
import type { AgentSettings } from "./agent-options.ts";
import { OutputFiles } from "./output-files.ts";
import { RunningCalls } from "./running-calls.ts";
import type { Session } from "./session.ts";
import type { CallEnvironment } from "./tool-call.ts";
import { ToolTable } from "./tool-table.ts";

/** Told of what went wrong beside a call's result; must not throw. */
export type Report = (error: HarnessError) => void;

/** What all connections of one agent share. */
export class AgentCore implements CallEnvironment {
  readonly settings: AgentSettings;
  readonly tools: ToolTable;
  readonly running: RunningCalls;
  readonly outputFiles: OutputFiles | undefined;
  readonly startedAt: number;
  readonly sessions = new Set<Session>();
  /** Counts who wants stray failures told apart by call. */
  attributing = 0;
  isStopping = false;
  /** Told of errors where the agent's author gave no `onError`. */
  fallbackReport: Report | undefined;
  /** Ends a run that waits or connects. */
  interruptRun: (() => void) | undefined;
  /** The token that `run` connects with. */
  token = "";

  constructor(settings: AgentSettings) {
    this.settings = settings;
    this.tools = new ToolTable(settings.id, settings.tools);
    this.running = new RunningCalls(settings.clock);
    this.startedAt = settings.clock.now();
    this.outputFiles = settings.outputFiles
      ? new OutputFiles({
          directory: settings.outputDirectory,
          keep: settings.keepOutputFiles,
          maxTotalBytes: settings.limits.maxOutputFilesBytes,
        })
      : undefined;
  }

  get clock() {
    return this.settings.clock;
  }
  get limits() {
    return this.settings.limits;
  }
  get debug() {
    return this.settings.debug;
  }
  get graceMs() {
    return this.settings.cancelGraceMs;
  }
  get isAttributing() {
    return this.attributing > 0;
  }

  /** The text without any token in it. */
  readonly redact = (text: string): string => {
    let redacted = this.token === "" ? text : text.replaceAll(this.token, "[redacted]");
    for (const session of this.sessions) redacted = session.redact(redacted);
    return redacted;
  };

  /** Ends all connections: their calls are aborted and have their results; then the output files go. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.interruptRun?.();
    try {
      const { cancelGraceMs } = this.settings;
      await Promise.all([...this.sessions].map((session) => session.stop(cancelGraceMs)));
      await this.running.idle(cancelGraceMs);
      await this.outputFiles?.close();
    } finally {
      this.isStopping = false;
    }
  }

  readonly report = (error: HarnessError): void => {
    quietly(() => (this.settings.onError ?? this.fallbackReport)?.(error));
  };
}
