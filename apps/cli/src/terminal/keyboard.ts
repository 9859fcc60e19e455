import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Io, io } from "../io.ts";

/** What reads the keyboard. */
export interface KeyReader {
  take(chunk: Buffer | string): void;
  /** The input has ended. */
  end(): void;
  /** Another reader has the keyboard until it is closed. @default nothing happens */
  covered?(): void;
  /** Whether the user is writing a line that is waited for. @default never */
  readonly isAwaited?: boolean;
}

/** A terminal marks what is pasted, so that nothing of it is a key. */
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };

/** A process that still runs so long after Ctrl-Z was not stopped. */
const notStoppedMs = 100;

/** Standard input where it is a terminal, in raw mode while something reads it: what opened it last has all that is typed. */
class Keyboard {
  readonly #io: Io;
  readonly #readers: KeyReader[] = [];
  #isListening = false;

  constructor(of: Io) {
    this.#io = of;
  }

  get isAwaited(): boolean {
    return this.#readers.at(-1)?.isAwaited === true;
  }

  /** Returns what closes it. */
  open(reader: KeyReader): () => void {
    this.#readers.at(-1)?.covered?.();
    this.#readers.push(reader);
    this.listen();
    return () => {
      const at = this.#readers.indexOf(reader);
      if (at === -1) return;
      this.#readers.splice(at, 1);
      if (this.#readers.length === 0 && this.#isListening) this.#rest();
    };
  }

  /** Reads what is typed, where that rested. In the background the system stops the job here, until the user brings it back. */
  listen(): void {
    if (!this.#isListening) this.#listen();
  }

  /**
   * Stops the whole job, as Ctrl-Z does elsewhere. It may go on in the background, where no key is read but for what `isNeeded`. Calls
   * back once the user is back, unless what reads the keyboard now was closed or covered meanwhile.
   */
  suspend(onBack: () => void, isNeeded = () => this.isAwaited): void {
    const reader = this.#readers.at(-1);
    this.#rest();
    const back = () => {
      clearTimeout(timer);
      process.off("SIGCONT", back);
      const isSame = this.#readers.at(-1) === reader;
      if (this.#isListening || this.#readers.length === 0) return;
      if (!(isSame && isNeeded()) && !ownsKeyboard()) return;
      this.#listen();
      if (isSame) onBack();
    };
    process.once("SIGCONT", back);
    process.kill(0, "SIGTSTP");
    // A process that no shell watches over, as in a container, is not stopped.
    const timer = setTimeout(back, notStoppedMs);
  }

  #listen(): void {
    const { stdin } = this.#io;
    this.#isListening = true;
    // What was typed as a line that has no end yet can be read in raw mode only.
    stdin.setRawMode(true);
    stdin.on("data", this.#onData);
    stdin.once("end", this.#onEnd);
    this.#paste("on");
    // A second Ctrl-C ends the process at once.
    process.once("exit", this.#onExit);
    stdin.resume();
  }

  #rest(): void {
    const { stdin } = this.#io;
    this.#isListening = false;
    stdin.off("data", this.#onData);
    stdin.off("end", this.#onEnd);
    process.off("exit", this.#onExit);
    this.#paste("off");
    stdin.setRawMode(false);
    stdin.pause();
  }

  readonly #onData = (chunk: Buffer | string): void => this.#readers.at(-1)?.take(chunk);

  readonly #onEnd = (): void => {
    for (const reader of this.#readers.toReversed()) reader.end();
  };

  readonly #onExit = (): void => this.#paste("off");

  #paste(how: "on" | "off"): void {
    const { stdout, stderr, env } = this.#io;
    if (env.TERM !== "dumb") [stdout, stderr].find(({ isTTY }) => isTTY)?.write(bracketedPaste[how]);
  }
}

const keyboards = new WeakMap<Io, Keyboard>();

/** The keyboard of the command that runs. */
export const keyboard = (): Keyboard => {
  const found = keyboards.get(io()) ?? new Keyboard(io());
  keyboards.set(io(), found);
  return found;
};

/** The group of this process, and the one that its terminal's keyboard belongs to. */
const groups = (): readonly (string | undefined)[] => {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The command's name, in brackets, may hold anything; fields are counted behind its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [fields[2], fields[5]];
  } catch {
    const args = ["-o", "pgid=,tpgid=", "-p", String(process.pid)];
    return spawnSync("ps", args, { encoding: "utf8" }).stdout?.trim().split(/\s+/) ?? [];
  }
};

/** Whether keys can be read one by one while something runs. The system stops a job in the background that tries. */
export const ownsKeyboard = (): boolean => {
  const { stdin, stdout, env } = io();
  if (!stdin.isTTY || !stdout.isTTY || env.TERM === "dumb") return false;
  const [own, foreground] = groups();
  return own !== undefined && own === foreground;
};
