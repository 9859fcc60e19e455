import type { CommandVerdict } from "../judgement.ts";
import type { Scope } from "../walk/scope.ts";
import type { Walk } from "../walk/walk.ts";
import type { Parsed } from "./parse-arguments.ts";

/** A program that is about to run. */
export interface Call {
  /** The program's name, with its sub-commands: `git log`. */
  readonly name: string;
  readonly args: readonly string[];
  /** What stands on its standard input, a mark where that is not known, undefined where the command gives it none. */
  readonly stdin: string | undefined;
  readonly scope: Scope;
  readonly walk: Walk;
}

/**
 * What is known of a program. An option or an operand for which there is no entry makes the command unknown.
 *
 * `options` is a list of entries with spaces between:
 * - `-a`, `--all`: takes no value; `-[abc]` is short for `-a -b -c`; `-#` is a number such as `-20`;
 * - `-n=text`, `--name=text`: takes a value, in the same word or the next; `--name?=text`: only in the same word;
 * - the value's kind: `text` (harmless, whatever it is), `number`, `list`, `read`, `tree`, `write` (paths), `shell` (a shell
 *   text that is run), `program` (a program that is run), `host` (an address), `env` (an assignment);
 * - `!VERDICT` after it: what giving the option amounts to: `--force!destructive`.
 *
 * `operands` is a list of kinds, the last of which repeats where it ends in `...`; `read... write` means that the last
 * operand is written. Besides the kinds above: `command` (the words from there on are a program with its arguments),
 * `delete` (a path that is deleted).
 */
export interface Spec {
  readonly options?: string;
  readonly operands?: string;
  /** Options that take the place of the first kind of `operands`, as `-e` does of the pattern of grep. */
  readonly instead?: string;
  /** Options with which operands to be read are folders that are read as a whole; `""`: always. */
  readonly tree?: string;
  /** The path that is used where no operand names one. */
  readonly fallback?: string;
  /** What running it amounts to, whatever its arguments are, and what it does, as the end of a sentence. */
  readonly does?: readonly [verdict: CommandVerdict, code: string, what: string];
  /** Options with which `does` does not hold. */
  readonly unless?: string;
  /** Sub-commands; the options stand before them. */
  readonly commands?: Readonly<Record<string, Spec>>;
  /**
   * `posix`: options end at the first operand; `single`: one dash begins long options, `-name` or `-name=value`; `words`: it
   * has no options, and every argument is an operand; `text...` where `operands` says nothing else.
   */
  readonly style?: "posix" | "single" | "words";
  /** No option of it is harmful, so that a word of which it is not known whether it is an option is harmless, too. */
  readonly anyOption?: true;
  /** The first word may be options without a dash, as in `tar xzf a.tgz`; the last letter alone may take a value. */
  readonly dashless?: true;
  /** Whether the environment of the shell is printed. */
  readonly secrets?: true;
  /** Whether it connects to something. `host` operands and options do that by themselves. */
  readonly network?: true;
  /** Judges options that stand before a sub-command. */
  readonly before?: (call: Call, parsed: Parsed) => void;
  /** Judges what the table cannot say; returns what the program prints where that is known. */
  readonly judge?: (call: Call, parsed: Parsed) => string | undefined;
}

/** A family of programs. A key may name several, with spaces between. */
export type Family = Readonly<Record<string, Spec>>;

/** A program that amounts to the same with any arguments, and does not only read. */
export const acts = (verdict: CommandVerdict, code: string, what: string, more: Spec = {}): Spec => ({
  style: "words",
  does: [verdict, code, what],
  ...more,
});
