import { ExitCode } from "../exit-code.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { Timeline } from "../timeline/timeline.ts";
import { type ApprovalMode, Approver } from "./approver.ts";
import { Interrupts } from "./interrupts.ts";
import { createJsonOutput, createTimelineOutput, type RunOutput } from "./run-output.ts";
import { RunServer, type RunServerOptions } from "./run-server.ts";

export interface RunPartsOptions extends RunServerOptions {
  readonly version: string;
  readonly approve: "ask" | "once" | "reject" | undefined;
  readonly json: boolean;
}

/** What the turns of one run share. */
export interface RunParts {
  readonly server: RunServer;
  readonly terminal: Terminal;
  readonly output: RunOutput;
  readonly approver: Approver;
  readonly interrupts: Interrupts;
  readonly mode: ApprovalMode;
  readonly version: string;
  /** Ends a line that is open, so that something else can be written. */
  readonly breakLine: () => void;
  /** Settles when the server that was told to quit is gone; undefined where it was not. */
  readonly quitting: () => Promise<never> | undefined;
}

export const createRunParts = (options: RunPartsOptions): RunParts => {
  const { version, json } = options;
  const terminal = createTerminal();
  const timeline = new Timeline({ terminal, showPrompt: false });
  const server = new RunServer(options);
  let quitting: Promise<never> | undefined;
  const interrupts = new Interrupts(() => {
    quitting = server.quit().then(() => process.exit(ExitCode.failed));
  });
  const mode = approvalMode(options);
  const approver = new Approver({
    command: "harness run",
    mode,
    terminal,
    timeline,
    onCancel: interrupts.interrupt,
    tellsAnswers: !json,
  });
  return {
    server,
    terminal,
    output: json ? createJsonOutput(terminal) : createTimelineOutput(terminal, timeline),
    approver,
    interrupts,
    mode,
    version,
    breakLine: () => {
      if (!json) timeline.breakLine();
    },
    quitting: () => quitting,
  };
};

/** Without a terminal nobody can be asked; with `--json` the terminal belongs to the lines. */
const approvalMode = ({ approve = "ask", json }: RunPartsOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : "no-terminal";
};
