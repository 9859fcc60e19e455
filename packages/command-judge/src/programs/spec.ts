import type { CommandVerdict } from "../judgement.ts";
import type { Scope } from "../walk/scope.ts";
import type { Walk } from "../walk/walk.ts";
import type { Parsed } from "./parse-arguments.ts";

/** A program that is about to run. */
export interface Call {
  /** The program's name, with its sub-commands: `git log`. */
  readonly name: string;
  readonly args: readonly string[];
  /** What stands on its standard input, a mark where that is not known, undefined where the command provides none. */
  readonly stdin: string | undefined;
  readonly scope: Scope;
  readonly walk: Walk;
}

/**
 * What is known of a program. An option or an operand without an entry makes the command unknown.
 *
 * `usage` lists its options and operands, with spaces between. Options:
 * - `-a`, `--all`: takes no value; `-[abc]` is short for `-a -b -c`; `-#` is a number such as `-20`;
 * - `-n=text`, `--name=text`: takes a value, in the same word or the next; `--name?=text`: only in the same word;
 * - the value's kind: `text` (harmless, whatever it is), `number`, `list`, `read`, `tree`, `write` (paths), `shell` (a shell
 *   text that is run), `program` (a program that is run), `host` (an address), `env` (an assignment);
 * - `!VERDICT` after it: what giving the option amounts to: `--force!destructive`.
 *
 * Operands are kinds, the last of which repeats where it ends in `...`; `read... write` means that the last
 * operand is written. Besides the kinds above: `command` (the words from there on are a program with its arguments),
 * `delete` (a path that is deleted).
 */
export interface Spec {
  readonly usage?: string;
  /** Options with which operands to be read are folders that are read as a whole; `""`: always. */
  readonly tree?: string;
  /** The path that is used where no operand names one. */
  readonly fallback?: string;
  /** What running it amounts to, whatever its arguments are. */
  readonly does?: Does | undefined;
  /** Options with which `does` does not hold. */
  readonly unless?: string;
  /** Sub-commands; the options stand before them. */
  readonly commands?: Family;
  /**
   * `posix`: options end at the first operand; `single`: one dash begins long options, `-name` or `-name=value`; `words`: it
   * has no options, and every argument is an operand; `text...` where `usage` names no operand.
   */
  readonly style?: "posix" | "single" | "words" | undefined;
  /** No option of it is harmful, so that a word of which it is not known whether it is an option is harmless, too. */
  readonly anyOption?: true;
  /** The first word may be options without a dash, as in `tar xzf a.tgz`; the last letter alone may take a value. */
  readonly dashless?: true;
  /** Whether the environment of the shell is printed. */
  readonly secrets?: true;
  /** Whether it connects to something. `host` operands and options do that by themselves. */
  readonly network?: true;
  /** Judges options that stand before a sub-command. */
  readonly before?: Judge;
  /** Judges what the table cannot say. */
  readonly judge?: Judge | undefined;
  /** What the program prints where that is known. May judge, too. */
  readonly prints?: (call: Call, parsed: Parsed) => string | undefined;
}

/** A verdict, its code, and what it does as the end of a sentence: `destructive stops-machine stops this machine`. */
export type Does = `${CommandVerdict} ${string} ${string}`;

/** Reports what a program or a path amounts to; `subject` begins the sentence. */
export const noteEffect = (walk: Pick<Walk, "report">, does: Does, subject: string): CommandVerdict => {
  const [verdict = "", code = ""] = does.split(" ", 2);
  walk.report(verdict as CommandVerdict, code, `${subject} ${does.slice(verdict.length + code.length + 2)}`);
  return verdict as CommandVerdict;
};

export type Judge = (call: Call, parsed: Parsed) => void;

/**
 * Programs or sub-commands by their names; a key may name several, with spaces between. A string is `USAGE`, or
 * `USAGE => DOES`; with `=> DOES` alone, it does that with any arguments.
 */
export type Family = Readonly<Record<string, Spec | string>>;

const families = new WeakMap<Family, ReadonlyMap<string, Spec>>();

const specOf = (entry: string): Spec => {
  const [usage = "", does] = entry.split(/ ?=> /) as [string, Does?];
  return {
    usage,
    does,
    style: does !== undefined && usage === "" ? "words" : undefined,
  };
};

/** The members of a family, by name. */
export const membersOf = (family: Family): ReadonlyMap<string, Spec> => {
  const known = families.get(family);
  if (known !== undefined) return known;
  const members = new Map(
    Object.entries(family).flatMap(([names, entry]) => {
      const spec = typeof entry === "string" ? specOf(entry) : entry;
      return names.split(" ").map((name) => [name, spec] as const);
    }),
  );
  families.set(family, members);
  return members;
};

/** The operands of a usage: its words that are not options. */
export const operandsOf = (usage: string): readonly string[] =>
  usage.split(/\s+/).filter((word) => word !== "" && !word.startsWith("-"));

/** A usage with these operands, where it names none. */
export const withOperands = (usage: string, operands = "text..."): string =>
  operandsOf(usage).length > 0 ? usage : `${usage} ${operands}`;

/** A program that amounts to the same with any arguments, and does not only read. */
export const acts = (does: Does, more: Spec = {}): Spec => ({ style: "words", does, ...more });

/** What a string amounts to if it matches. */
export type Row = readonly [pattern: RegExp, does: Does];

const byText =
  (toText: (call: Call, parsed: Parsed) => string) =>
  (...rows: readonly Row[]): Judge =>
  (call, parsed) => {
    const text = toText(call, parsed);
    const row = rows.find(([pattern]) => pattern.test(text));
    if (row !== undefined) noteEffect(call.walk, row[1], call.name);
  };

/** Judges the arguments, joined by spaces: the first row that matches is reported. */
export const byArguments = byText(({ args }) => args.join(" "));

/** Judges the operands without a leading dash, joined by spaces: the first row that matches is reported. */
export const byWords = byText((_, { operands }) =>
  operands.filter((each) => !each.startsWith("-")).join(" "),
);
