import { startHint } from "../attach/absent-server.ts";
import { comeBackHint } from "../attach/attach-failure.ts";
import { ErrorNotes } from "../attach/error-notes.ts";
import { sharedServer } from "../attach/first-contact.ts";
import type { WithServerOptions } from "../attach/with-server.ts";
import { interruptedExitCode } from "../interruption.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
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
  readonly threadId: string | undefined;
  /** How long the server of `attach` is tried again, in seconds. */
  readonly retryFor: number | undefined;
  /** Nobody judges, as the user wants it. */
  readonly noPolicy: boolean;
}

/** What the turns of one run share. */
export interface RunParts {
  /** How its turns get to their server; what `onError` is told is up to them. */
  readonly connecting: Omit<WithServerOptions, "onError">;
  /** The thread of its turns, once it is known. */
  threadId: string | undefined;
  readonly terminal: Terminal;
  readonly output: RunOutput;
  readonly approver: Approver;
  readonly interrupts: Interrupts;
  readonly mode: ApprovalMode;
  /** Where it is told what arrived and was not used. */
  readonly notes: ErrorNotes;
  /** Shows that something works, on a terminal. */
  readonly spinner: Spinner | undefined;
  /** Ends a line that is open, so that something else can be written. */
  readonly breakLine: () => void;
  /** Settles when the server that was told to quit is gone; undefined where it was not. */
  readonly quitting: () => Promise<never> | undefined;
}

export const createRunParts = (options: RunPartsOptions): RunParts => {
  const { version, json, attach, retryFor, noPolicy } = options;
  const terminal = createTerminal();
  const spinner = json || !canSpin(process.stdout) ? undefined : new Spinner();
  const timeline = new Timeline({ terminal, showPrompt: false, spinner });
  const server = new RunServer(options);
  let quitting: Promise<never> | undefined;
  const interrupts = new Interrupts(() => {
    quitting = server.quit().then(() => process.exit(interruptedExitCode()));
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
  const breakLine = () => {
    if (!json) timeline.breakLine();
  };
  const output = json
    ? createJsonOutput(terminal, { noPolicy })
    : createTimelineOutput(terminal, timeline, { noPolicy });
  const parts: RunParts = {
    connecting: {
      transport: server,
      clientInfo: { name: approver.clientName, version },
      shared: attach === undefined ? undefined : sharedServer(attach, retryFor),
      signal: interrupts.signal,
      onLost: () => {
        spinner?.rest();
        approver.gate.close();
        breakLine();
      },
      onBack: () => approver.gate.open(),
      comeBackHint: () => {
        if (attach === undefined) return "";
        return parts.threadId === undefined ? startHint(attach) : comeBackHint(attach, parts.threadId);
      },
    },
    threadId: options.threadId,
    terminal,
    output,
    approver,
    interrupts,
    mode,
    notes: new ErrorNotes("harness run"),
    spinner,
    breakLine,
    quitting: () => quitting,
  };
  return parts;
};

/** Without a terminal nobody can be asked; with `--json` the terminal belongs to the lines. */
const approvalMode = ({ approve = "ask", json }: RunPartsOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : "no-terminal";
};
