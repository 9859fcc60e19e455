import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { Server, Socket } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createDeferred, systemClock } from "@harnesskit/wire";
import { onTestFinished } from "vitest";
import { watchInterruption } from "../../src/interruption.ts";
import { type Io, io, processIo, withIo } from "../../src/io.ts";
import { main } from "../../src/main.ts";
import { splitWords } from "../../src/split-words.ts";
import { binPath, checkState, type HarnessEnd, type HarnessOptions, Running } from "./harness.ts";

const ctrlC = "\u0003";

/** Node calls back for an accepted connection outside of the world in which its server was opened. */
const { emit } = Server.prototype;
Server.prototype.emit = function (this: Server, name: string | symbol, ...rest: unknown[]) {
  const [socket] = rest;
  if (name === "connection" && socket instanceof Socket && io() !== processIo) {
    const within = AsyncLocalStorage.snapshot();
    const own = socket.emit;
    socket.emit = (heard: string | symbol, ...more: unknown[]) =>
      within(() => Reflect.apply(own, socket, [heard, ...more]));
  }
  return Reflect.apply(emit, this, [name, ...rest]);
};

/** A keyboard, where `isTTY`: Ctrl-C is a signal, but in raw mode. Otherwise a pipe. */
class Input extends PassThrough {
  isRaw = false;

  constructor(readonly isTTY: boolean) {
    super();
  }

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
}

class Output extends Writable {
  readonly rows = 40;
  readonly #decoder = new StringDecoder();
  readonly #put: (text: string) => void;

  constructor(
    readonly isTTY: boolean,
    readonly columns: number,
    put: (text: string) => void,
  ) {
    super();
    this.#put = put;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#put(this.#decoder.write(chunk));
    done();
  }
}

export interface TerminalOptions extends HarnessOptions {
  /** @default 80 */
  readonly columns?: number;
  /** Standard output goes into {@link RunningCommand.answer}; standard error is the terminal. @default false */
  readonly isAnswerRead?: boolean;
}

/** A command line that runs in this process: the program without its process. At a terminal, `stdout` is all that it shows. */
class RunningCommand extends Running {
  readonly ended: Promise<HarnessEnd>;
  /** What was written to a standard output that is no terminal, although there is one. */
  answer = "";
  readonly #io: Io;
  readonly #stdin: Input;

  constructor(args: readonly string[], options: TerminalOptions, isTerminal = false) {
    super();
    const { cwd, env = {}, columns = 80, isService = false, isAnswerRead = false } = options;
    const { PATH = "", HOME = "", XDG_STATE_HOME = "" } = process.env;
    const home = env.HOME ?? homedir();
    const term: Record<string, string> = isTerminal ? { TERM: "xterm-256color", SHELL: "/bin/sh" } : {};
    const variables = { PATH, HOME, XDG_STATE_HOME, ...term, ...env };
    // An empty one counts as none: then the state lies in the home, which is that of this process to `os.homedir`.
    if (variables.XDG_STATE_HOME === "") variables.XDG_STATE_HOME = join(home, ".local", "state");
    const show = (text: string) => {
      this.stdout += text;
    };
    const stdout = new Output(isTerminal && !isAnswerRead, columns, (text) => {
      this.output.write(text);
      if (isAnswerRead) this.answer += text;
      else show(text);
    });
    const stderr = new Output(isTerminal, columns, (text) => {
      if (isTerminal) show(text);
      else this.stderr += text;
    });
    // No client is behind a terminal, as none is behind the null device of a service.
    this.#stdin = new Input(isTerminal || isService);
    const exit = createDeferred<number>();
    this.#io = {
      stdin: this.#stdin as unknown as NodeJS.ReadStream,
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: stderr as unknown as NodeJS.WriteStream,
      env: variables,
      cwd: () => cwd,
      home: () => home,
      programs: dirname(binPath),
      clock: systemClock,
      signals: new EventEmitter(),
      exit: (code = 0) => exit.resolve(code),
    };
    this.#within(watchInterruption);
    void main({ args, version: "1.2.3" }, this.#io).then(exit.resolve);
    this.ended = exit.promise.then((code) => ({
      code,
      signal: null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** In the world of the command: what hears of it asks for that. */
  #within(act: () => void): void {
    void withIo(this.#io, async () => act());
  }

  write(text: string | Buffer): void {
    this.#within(() => {
      if (text === ctrlC && this.#stdin.isTTY && !this.#stdin.isRaw)
        this.#io.signals.emit("SIGINT", "SIGINT");
      else this.#stdin.write(text);
    });
  }

  endInput(text?: string | Buffer): void {
    this.#within(() => void this.#stdin.end(text));
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === "SIGKILL") throw new TypeError("only a process can be killed: start one");
    this.#within(() => void this.#io.signals.emit(signal, signal));
  }
}

const start = (args: readonly string[], options: TerminalOptions, isTerminal: boolean): RunningCommand => {
  checkState(args, options);
  const command = new RunningCommand(args, options, isTerminal);
  let isOver = false;
  void command.ended.then(() => (isOver = true));
  onTestFinished(async () => {
    if (!isOver) {
      command.endInput();
      command.kill("SIGTERM");
    }
    await command.ended;
  });
  if (options.input !== undefined) command.endInput(options.input);
  return command;
};

/** A command line: its words, or what a user types behind `harness`. */
export type Line = string | readonly string[];

const wordsOf = (line: Line): readonly string[] =>
  typeof line === "string" ? splitWords(line, "the command line") : line;

/** Starts a command line in this process; it is ended with the test at the latest. */
export const startHarness = (line: Line, options: HarnessOptions): RunningCommand =>
  start(wordsOf(line), options, false);

/** Starts it at a terminal, of 80 columns where nothing else is said. */
export const startAtTerminal = (line: Line, options: TerminalOptions): RunningCommand =>
  start(wordsOf(line), options, true);

/** Runs a command line to its end in this process, with `input` to read. */
export const harness = (line: Line, options: HarnessOptions): Promise<HarnessEnd> =>
  start(wordsOf(line), { input: "", ...options }, false).ended;
