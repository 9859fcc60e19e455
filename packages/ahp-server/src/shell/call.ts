import type { ShellState } from "./shell-state.ts";
import type { ShellVerdict } from "./verdict.ts";

/** Options that a judgement depends on besides the command. */
export interface ShellLists {
  /** Names of programs that only read, besides those that are known. @default [] */
  readonly read?: readonly string[];
  /** Names of programs that change things and are understood as `write`. @default [] */
  readonly write?: readonly string[];
  /** Patterns of further secret files; `*` also stands for slashes. @default [] */
  readonly secretPaths?: readonly string[];
  /** Absolute paths of folders outside the workspace that count as inside. @default [] */
  readonly allowedPaths?: readonly string[];
  /** The scripts of `package.json`, so that `npm run build` is followed. @default {} */
  readonly packageScripts?: Readonly<Record<string, string>>;
}

/** What programs are judged with. */
export interface Runner {
  readonly lists: ShellLists;
  report(verdict: ShellVerdict, code: string, text: string): void;
  /** Notes that a secret may be printed that is no file. */
  noteSecret(): void;
  noteNetwork(): void;
  /** Notes that a text is calculated: what values it names are expressions again, and may run commands. */
  expression(text: string, state: ShellState): void;
  /** Notes that a file is read; returns its content where it is known, else the mark of what it may hold. */
  read(path: string, state: ShellState): string;
  /** Notes that a file is written, and what it holds from then on. */
  write(path: string, state: ShellState, content?: string): void;
  /** Notes that a file is opened for writing, or changed in what is not its content. */
  touch(path: string, state: ShellState): void;
  /**
   * Runs the text of a shell in this state; returns what it prints. Another shell knows functions only if they were
   * given to it.
   */
  script(text: string, state: ShellState, stdin: string | undefined, isSameShell?: boolean): string;
  /** Has a text run in this state when the command ends. */
  later(text: string, state: ShellState): void;
  /** Runs a program with its arguments, and no function or alias of its name; returns what it prints. */
  exec(args: readonly string[], state: ShellState, stdin: string | undefined): string;
}

/** A program that is about to be run. */
export interface Call {
  /** The name without its folder. */
  readonly name: string;
  readonly args: readonly string[];
  /** What stands on its standard input; undefined where that is nothing that the command gives it. */
  readonly stdin: string | undefined;
  readonly state: ShellState;
  readonly run: Runner;
}

/** Judges a call and returns what the program prints; undefined where that is not followed. */
export type Program = (call: Call) => string | undefined;
