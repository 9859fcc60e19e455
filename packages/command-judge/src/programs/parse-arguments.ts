import type { CommandVerdict } from "../judgement.ts";
import { isUnknown, mayBeOption } from "../marks.ts";
import type { Spec } from "./spec.ts";

/** One entry of an option table. */
export interface OptionRule {
  readonly name: string;
  /** The kind of its value; undefined where it takes none. */
  readonly kind: string | undefined;
  readonly isAttached: boolean;
  readonly verdict: CommandVerdict | undefined;
}

export interface GivenOption {
  readonly rule: OptionRule;
  readonly value: string | undefined;
  /** Whether the value is a word behind an operand: a program that stops at operands takes it as one. */
  readonly isLate: boolean;
}

/** Arguments as a table classifies them. */
export interface Parsed {
  readonly given: readonly GivenOption[];
  readonly operands: readonly string[];
  /** Options that the table does not have. */
  readonly unknown: readonly string[];
  /** Whether a word that is not known may be an option. */
  readonly isUncertain: boolean;
  /** Whether one of these options is given, by the names of the table; a string may hold several, with spaces between. */
  has(...names: readonly string[]): boolean;
  values(...names: readonly string[]): readonly string[];
}

type Rules = ReadonlyMap<string, OptionRule>;

const item = /^(?<name>--?(?:\[\S+?\]|[^=?!]+))(?<attached>\?)?(?:=(?<kind>\w+))?(?:!(?<verdict>\w+))?$/;

const parseTable = (table: string): Rules => {
  const rules = new Map<string, OptionRule>();
  for (const entry of table.split(/\s+/)) {
    const groups = item.exec(entry)?.groups;
    if (groups === undefined) continue;
    const letters = /^-\[(.*)\]$/.exec(groups.name ?? "")?.[1];
    for (const name of letters === undefined
      ? [groups.name ?? ""]
      : [...letters].map((letter) => `-${letter}`))
      rules.set(name, {
        name,
        kind: groups.kind,
        isAttached: groups.attached !== undefined,
        verdict: groups.verdict as CommandVerdict | undefined,
      });
  }
  return rules;
};

/** By usage: at most as many as the tables hold. */
const tables = new Map<string, Rules>();

const rulesOf = ({ usage = "" }: Spec): Rules => {
  const known = tables.get(usage) ?? parseTable(usage);
  tables.set(usage, known);
  return known;
};

/** Reads arguments by the table of a program. What the table does not have is listed as unknown. */
export const parseArguments = (args: readonly string[], spec: Spec): Parsed => {
  const rules = rulesOf(spec);
  const given: GivenOption[] = [];
  const operands: string[] = [];
  const unknown: string[] = [];
  let isUncertain = false;
  const rest = spec.style === "words" ? [] : [...args];
  if (spec.style === "words") operands.push(...args);
  const take = (rule: OptionRule, attached: string | undefined): void => {
    const isMissing = attached === undefined && rule.kind !== undefined && !rule.isAttached;
    if (isMissing && rest.length === 0) unknown.push(rule.name);
    const isLate = isMissing && operands.length > 0;
    given.push({ rule, value: isMissing ? rest.shift() : attached, isLate });
  };
  const takeLong = (arg: string): void => {
    const equals = arg.indexOf("=");
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const value = equals === -1 ? undefined : arg.slice(equals + 1);
    const rule = rules.get(name);
    if (rule !== undefined && (value === undefined || rule.kind !== undefined)) {
      take(rule, value);
      return;
    }
    unknown.push(arg);
    // An abbreviation may stand for any option that begins so.
    for (const each of rules.values())
      if (name.length > 2 && each.verdict !== undefined && each.name.startsWith(name))
        given.push({ rule: each, value, isLate: false });
  };
  const takeLetters = (arg: string): void => {
    for (let at = 1; at < arg.length; at++) {
      const rule = rules.get(`-${arg[at]}`);
      if (rule === undefined) {
        unknown.push(`-${arg.slice(at)}`);
        return;
      }
      const attached = arg.slice(at + 1);
      if (rule.kind !== undefined) {
        take(rule, attached === "" ? undefined : attached.replace(/^=/, ""));
        return;
      }
      given.push({ rule, value: undefined, isLate: false });
    }
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      operands.push(...rest);
      break;
    }
    const number = rules.get("-#");
    if (number !== undefined && /^-\d+$/.test(arg))
      given.push({ rule: number, value: arg.slice(1), isLate: false });
    else if (arg.startsWith("-") && arg !== "-") {
      if (isUnknown(arg.split("=")[0] ?? "") && arg.startsWith("--")) isUncertain = true;
      if (arg.startsWith("--") || spec.style === "single") takeLong(arg);
      else takeLetters(arg);
    } else {
      if (mayBeOption(arg)) isUncertain = true;
      operands.push(arg);
      if (spec.style === "posix" || spec.commands !== undefined) {
        operands.push(...rest);
        break;
      }
    }
  }
  const named = (names: readonly string[]): readonly GivenOption[] => {
    const wanted = names.flatMap((each) => each.split(" "));
    return given.filter(({ rule }) => wanted.includes(rule.name));
  };
  return {
    given,
    operands,
    unknown,
    isUncertain,
    has: (...names) => named(names).length > 0,
    values: (...names) => named(names).flatMap(({ value }) => value ?? []),
  };
};
