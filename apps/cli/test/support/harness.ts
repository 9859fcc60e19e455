import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, vi } from "vitest";

/** The built program: what users run, on every version of Node. */
export const binPath = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
if (!existsSync(binPath)) throw new TypeError(`${binPath} is missing: build it first, npm run build`);

/** A directory with a README, removed when the test is over. */
export const makeWorkspace = async (files: Record<string, string> = {}): Promise<string> => {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "harness-cli-")));
  onTestFinished(async () => {
    // A policy's process ends a moment after the server that was killed, and writes its log until then.
    await rm(workspace, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  for (const [name, text] of Object.entries({ "README.md": "# Demo\n\nA small demo.\n", ...files })) {
    await writeFile(join(workspace, name), text);
  }
  return workspace;
};

/** What `--no-policy` makes a server say. */
export const noPolicyNotice =
  "harness serve: NO POLICY is in force (--no-policy): only you are asked, before the agent writes files or runs commands\n";

export interface HarnessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settles with what `look` returns once it throws no more: for what another process brings about. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 60_000, interval: 20 });

/** The end of a command that failed, said why on standard error, and nothing on standard output. */
export const failure = (code: number, text: string) => ({
  ...{ code, stdout: "", stderr: expect.stringContaining(text) },
});

/** The end of a command that said this on standard output. */
export const answerOf = (code: number, text: string) => ({ code, stdout: expect.stringContaining(text) });

export interface HarnessOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** Written to its standard input, which is then closed; left open where undefined. */
  readonly input?: string;
  /** Standard input is the null device, as for a service. @default false */
  readonly isService?: boolean;
}

/** Starts the command: in a process of its own, or in that of the test. */
export type Start = (args: readonly string[], options: HarnessOptions) => Running;

/** A command that runs, or a program: its output so far, and its end. */
export abstract class Running {
  stdout = "";
  stderr = "";
  /** What is written to its standard output, beside `stdout`. */
  readonly output = new PassThrough();
  abstract readonly ended: Promise<HarnessEnd>;

  /** Writes to its standard input. */
  abstract write(text: string | Buffer): void;

  /** Closes its standard input, after this. */
  abstract endInput(text?: string | Buffer): void;

  abstract kill(signal: NodeJS.Signals): void;

  /** Settles when the output holds this. */
  sees(pattern: RegExp): Promise<RegExpMatchArray> {
    return this.#finds(pattern, () => this.stdout);
  }

  /** Settles when standard error holds this. */
  reports(pattern: RegExp): Promise<RegExpMatchArray> {
    return this.#finds(pattern, () => this.stderr);
  }

  #finds(pattern: RegExp, text: () => string): Promise<RegExpMatchArray> {
    return vi.waitFor(
      () => {
        const found = text().match(pattern);
        if (!found) throw new RangeError(`no ${pattern} in ${this.stdout.slice(-4000)}\n${this.stderr}`);
        return found;
      },
      { timeout: 30_000, interval: 20 },
    );
  }
}

/** A program in a process of its own. */
export class RunningProgram extends Running {
  readonly child: ChildProcess;
  readonly ended: Promise<HarnessEnd>;

  constructor(child: ChildProcess) {
    super();
    this.child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      this.output.write(text);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      );
    });
  }

  write(text: string | Buffer): void {
    this.child.stdin?.write(text);
  }

  endInput(text?: string | Buffer): void {
    this.child.stdin?.end(text);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** Starts a program; it is killed with the test at the latest. */
export const startProgram = (
  command: string,
  args: readonly string[],
  { cwd, env = {}, input, isService = false }: HarnessOptions,
): RunningProgram => {
  // What belongs to the user stays out of the user's home.
  const { PATH = "", HOME = "", XDG_STATE_HOME = "" } = process.env;
  const child = spawn(command, [...args], {
    cwd,
    env: { PATH, HOME, XDG_STATE_HOME, ...env },
    stdio: [isService ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.on("error", () => {});
  const program = new RunningProgram(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await program.ended;
  });
  if (input !== undefined) child.stdin?.end(input);
  return program;
};

/** Throws for a hub in the state that the tests share: it would judge what other test files run. */
export const checkState = (args: readonly string[], { env = {} }: HarnessOptions): void => {
  const { XDG_STATE_HOME, HOME } = env;
  const isShared = XDG_STATE_HOME === undefined || (XDG_STATE_HOME === "" && HOME === undefined);
  if (args[0] === "hub" && isShared && !args.includes("--state")) {
    throw new TypeError("a hub needs a state of its own: set XDG_STATE_HOME in env");
  }
};

/** Starts the built program in a process of its own: for what only a process can show, such as its kill. */
export const startProcess = (args: readonly string[], options: HarnessOptions): RunningProgram => {
  checkState(args, options);
  return startProgram(process.execPath, [binPath, ...args], options);
};

/** The processes whose command line holds this text. */
const processesWith = async (text: string): Promise<string[]> => {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,stat=,args="]);
  return stdout.split("\n").filter((line) => line.includes(text) && !/^\s*\d+\s+Z/.test(line));
};

/** Settles when no process has this text in its command line any more. */
export const nothingRunsWith = (text: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const left = await processesWith(text);
      if (left.length > 0) throw new RangeError(`still running: ${left.join("\n")}`);
    },
    { timeout: 15_000, interval: 150 },
  );

/** The lines of an output as JSON. Throws for one that is none. */
export const jsonLines = (output: string): { type: string; data: Record<string, unknown> }[] =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
