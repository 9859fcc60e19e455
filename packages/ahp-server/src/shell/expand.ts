import {
  type ParameterExpansionPart,
  type ParameterOperation,
  type ParsedScript,
  parse,
  type Word,
  type WordPart,
} from "unbash";
import { expandBraces } from "./braces.ts";
import { patternToRegExp } from "./glob.ts";
import { maxFields, maxTextLength } from "./limits.ts";
import { isExact, isUnknown, secretMark, taintOf, unknownMark } from "./marks.ts";
import type { Fields, ShellState } from "./shell-state.ts";
import type { ShellVerdict } from "./verdict.ts";

/** Runs what stands inside words. */
export interface Substituter {
  /** Counts a step; false where there were too many. */
  step(): boolean;
  /** What a script prints. */
  output(script: ParsedScript | undefined, state: ShellState): string;
  /** The path that stands for a process substitution. */
  channel(script: ParsedScript | undefined, operator: "<" | ">", state: ShellState): string;
  /** Notes that a text is calculated. */
  expression(text: string, state: ShellState): void;
  report(verdict: ShellVerdict, code: string, text: string): void;
  /** Runs what stands in an expression that has no value of interest. */
  sweep(part: WordPart, state: ShellState): void;
}

/** A stretch of a word: split at spaces where it was not quoted. */
interface Piece {
  readonly fields: Fields;
  readonly split: boolean;
}

const secretName =
  /(?:^|_)(?:password|passwd|passphrase|secret|token|credentials?|api_?key|access_?key|private_?key|auth|pat|pwd)s?(?:_|$)|_key$/i;

/** Whether a variable holds a secret by its name: `GITHUB_TOKEN`. */
const isSecretName = (name: string): boolean => secretName.test(name);

const cut = (text: string): string => (text.length > maxTextLength ? taintOf(text) : text);

const markOf = (fields: Fields): string => (fields.join("").includes(secretMark) ? secretMark : unknownMark);

/** `${name#pattern}` and its kin. */
const withoutMatch = (text: string, pattern: string, operator: string): string => {
  const match = patternToRegExp(pattern, "both");
  if (match === undefined || text.length > 512) return markOf([text]);
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index);
  if (operator.length === 2) lengths.reverse();
  const front = operator.startsWith("#");
  const found = lengths.find((length) =>
    match.test(front ? text.slice(0, length) : text.slice(text.length - length)),
  );
  if (found === undefined) return text;
  return front ? text.slice(found) : text.slice(0, text.length - found);
};

/** Turns words of a command into the arguments that a program gets. */
export class Expander {
  readonly #run: Substituter;
  readonly #home: string | undefined;

  constructor(run: Substituter, home: string | undefined) {
    this.#run = run;
    this.#home = home;
  }

  /** The fields of a word: braces, parameters, substitutions, splitting. */
  fields(word: Word, state: ShellState): Fields {
    if (!word.text.includes("{") || !/,|\.\./.test(word.text)) return this.#single(word, state);
    const raw = expandBraces(word.text);
    if (raw === undefined) return [unknownMark];
    if (raw.length === 1 && raw[0] === word.text) return this.#single(word, state);
    const all: string[] = [];
    for (const text of raw) {
      if (text === "" || !this.#run.step()) continue;
      const command = parse(`: ${text}`).commands[0]?.command;
      const made = command?.type === "Command" ? command.suffix : [];
      for (const each of made) {
        if (each.type === "Word") all.push(...this.#single(each, state));
        else if (each.type === "Assignment") all.push(each.text);
        else all.push(unknownMark);
      }
    }
    return all.length > maxFields ? [unknownMark] : all;
  }

  /** The one text of a word where nothing is split: assignments, redirections, `case`. */
  text(word: Word, state: ShellState): string {
    return cut(
      this.#pieces(word, state)
        .map(({ fields }) => fields.join(" "))
        .join(""),
    );
  }

  /** The text of a list of parts: a here document. */
  body(parts: readonly WordPart[], state: ShellState): string {
    return cut(parts.map((part) => this.#part(part, state, true).fields.join(" ")).join(""));
  }

  #single(word: Word, state: ShellState): Fields {
    const separators = state.variables.get("IFS")?.[0] ?? " \t\n";
    const fields: string[] = [];
    let open: string | undefined;
    for (const { fields: made, split } of this.#pieces(word, state)) {
      const parts = made.flatMap((field) => (split ? this.#split(field, separators) : [field]));
      const [first, ...more] = parts;
      if (first === undefined) continue;
      open = (open ?? "") + first;
      for (const part of more) {
        fields.push(open);
        open = part;
      }
    }
    if (open !== undefined) fields.push(open);
    const kept = fields.filter((field) => field !== "" || /["']/.test(word.text)).map(cut);
    return kept.length > maxFields ? [unknownMark] : kept;
  }

  #split(field: string, separators: string): Fields {
    if (isUnknown(separators)) return [field === "" ? "" : markOf([field])];
    if (separators === "") return [field];
    const parts: string[] = [];
    let current = "";
    for (const char of field) {
      if (!separators.includes(char)) current += char;
      else {
        parts.push(current);
        current = "";
      }
    }
    if (current !== "" || parts.length === 0) parts.push(current);
    // Blank separators at the beginning and side by side make no empty fields; others do, and those are dropped here.
    const filled = parts.filter((part, index) => part !== "" || index === 0);
    return filled.length > maxFields ? [markOf(filled)] : filled;
  }

  #pieces(word: Word, state: ShellState): readonly Piece[] {
    const { parts } = word;
    if (parts === undefined) return [{ fields: [this.#tilde(word.value, word.text, state)], split: false }];
    return parts.map((part, index) => {
      const piece = this.#part(part, state, false);
      const [field] = piece.fields;
      if (index > 0 || part.type !== "Literal" || field === undefined) return piece;
      return { fields: [this.#tilde(field, part.text, state)], split: false };
    });
  }

  #tilde(value: string, text: string, state: ShellState): string {
    if (!text.startsWith("~")) return value;
    if (/^~(?:\/|$)/.test(value)) return (this.lookup("HOME", state)[0] ?? "~") + value.slice(1);
    if (/^~\+(?:\/|$)/.test(value)) return (this.lookup("PWD", state)[0] ?? unknownMark) + value.slice(2);
    if (/^~-(?:\/|$)/.test(value)) return unknownMark + value.slice(2);
    return value;
  }

  #part(part: WordPart, state: ShellState, quoted: boolean): Piece {
    if (!this.#run.step()) return { fields: [unknownMark], split: false };
    switch (part.type) {
      case "Literal":
      case "Glob":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return { fields: [part.value], split: false };
      case "DoubleQuoted":
      case "LocaleString":
        return this.#quoted(part.parts, state);
      case "SimpleExpansion": {
        const name = part.text.replace(/\\\n/g, "").slice(1);
        const value = this.lookup(name, state);
        return { fields: quoted && name === "*" ? [value.join(" ")] : value, split: !quoted };
      }
      case "ParameterExpansion":
        return { fields: this.#parameter(part, state), split: !quoted };
      case "CommandExpansion":
        return { fields: [this.#run.output(part.script, state).replace(/\n+$/, "")], split: !quoted };
      case "ProcessSubstitution":
        return { fields: [this.#run.channel(part.script, part.operator, state)], split: false };
      case "ArithmeticExpansion":
        this.#run.sweep(part, state);
        return { fields: [unknownMark], split: false };
      case "ExtendedGlob":
        this.#run.sweep(part, state);
        return { fields: [part.operator === "!" ? "*" : part.text], split: false };
      default:
        this.#run.sweep(part, state);
        return { fields: [part.parts === undefined ? part.text : unknownMark], split: false };
    }
  }

  /** Between double quotes nothing is split, but `"$@"` stays several fields. */
  #quoted(parts: readonly WordPart[], state: ShellState): Piece {
    const fields: string[] = [];
    let open: string | undefined;
    for (const part of parts) {
      const made = this.#part(part, state, true).fields;
      const [first, ...more] = made;
      if (first === undefined) continue;
      open = (open ?? "") + first;
      for (const field of more) {
        fields.push(open);
        open = field;
      }
    }
    const none = open === undefined && parts.length === 1 && /^\$\{?@|\[@\]\}$/.test(parts[0]?.text ?? "");
    return { fields: none ? [] : [...fields, open ?? ""], split: false };
  }

  /** The fields of a variable. What the environment may have set is unknown. */
  lookup(name: string, state: ShellState): Fields {
    const value = state.variables.get(name);
    if (value !== undefined) return value;
    if (name === "@" || name === "*") return state.positional;
    if (/^[1-9]\d*$/.test(name)) {
      const unknown = state.positional.some((each) => isUnknown(each));
      return [state.positional[Number(name) - 1] ?? (unknown ? unknownMark : "")];
    }
    if (name === "HOME") return [this.#home ?? "~"];
    const only = state.directories?.length === 1 ? state.directories[0] : undefined;
    if (name === "PWD" && only !== undefined) return [only];
    return [isSecretName(name) ? secretMark : unknownMark];
  }

  #parameter(part: ParameterExpansionPart, state: ShellState): Fields {
    let name = part.parameter;
    if (part.index !== undefined) this.#run.expression(this.text(part.index, state), state);
    if (part.prefix === "!") {
      const target = this.lookup(name, state)[0] ?? "";
      if (part.operation?.type === "Names" || !isExact(target))
        return [isSecretName(name) ? secretMark : unknownMark];
      if (target.includes("[")) this.#run.expression(target, state);
      name = target;
    }
    const set = state.variables.has(name) || /^[@*\d]+$/.test(name);
    const value = this.#indexed(part, this.lookup(name, state), state);
    if (part.prefix === "#") return [isExact(value.join("")) ? String(value[0]?.length ?? 0) : unknownMark];
    return part.operation === undefined ? value : this.#operate(part.operation, name, value, set, state);
  }

  #indexed(part: ParameterExpansionPart, value: Fields, state: ShellState): Fields {
    if (part.index === undefined)
      return value.length > 1 && !/^[@*]$/.test(part.parameter) ? value.slice(0, 1) : value;
    const index = this.text(part.index, state);
    if (index === "@" || index === "*") return value;
    if (/^\d+$/.test(index))
      return [value[Number(index)] ?? (isUnknown(value.join("")) ? markOf(value) : "")];
    return [markOf(value)];
  }

  #operate(
    operation: ParameterOperation,
    name: string,
    value: Fields,
    set: boolean,
    state: ShellState,
  ): Fields {
    const map = (change: (text: string) => string): Fields =>
      value.map((text) => (isExact(text) ? cut(change(text)) : markOf([text])));
    switch (operation.type) {
      case "Default": {
        const operand = this.text(operation.operand, state);
        const positive = operation.operator.endsWith("+");
        const filled = set && (value.join("") !== "" || !operation.operator.startsWith(":"));
        if (operation.operator.endsWith("?")) return value;
        if (set && !isUnknown(value.join("")))
          return filled === positive ? [operand] : positive ? [""] : value;
        // Either the operand or what is not known: the mark says that it may be something else.
        if (operation.operator.endsWith("=")) state.variables.set(name, [operand + markOf(value)]);
        return [operand + markOf(value)];
      }
      case "Remove": {
        const pattern = this.text(operation.operand, state);
        return isExact(pattern)
          ? map((text) => withoutMatch(text, pattern, operation.operator))
          : [markOf(value)];
      }
      case "Replace": {
        const from = this.text(operation.pattern, state);
        const to = this.text(operation.replacement, state);
        const anchored = operation.operator === "/#" ? "start" : operation.operator === "/%" ? "end" : "none";
        const pattern = patternToRegExp(from, anchored);
        if (pattern === undefined || from === "" || !isExact(from) || from.includes("*"))
          return [markOf(value)];
        const found = operation.operator === "//" ? new RegExp(pattern.source, "g") : pattern;
        return map((text) => (text.length > 2048 ? markOf([text]) : text.replace(found, () => to)));
      }
      case "Slice": {
        const offset = this.text(operation.offset, state).trim();
        const length = operation.length === undefined ? undefined : this.text(operation.length, state).trim();
        this.#run.expression(offset, state);
        this.#run.expression(length ?? "", state);
        if (!/^-?\d+$/.test(offset) || !/^-?\d*$/.test(length ?? "") || name === "@") return [markOf(value)];
        return map((text) => {
          const rest = text.slice(Number(offset));
          return length === undefined ? rest : rest.slice(0, Number(length));
        });
      }
      case "CaseModification": {
        const upper = operation.operator.startsWith("^");
        if (operation.operand !== undefined) return [markOf(value)];
        const change = (text: string): string => (upper ? text.toUpperCase() : text.toLowerCase());
        if (operation.operator.length === 2) return map(change);
        return map((text) => change(text.slice(0, 1)) + text.slice(1));
      }
      case "Transform": {
        const kind = this.text(operation.operand, state);
        if (kind === "U") return map((text) => text.toUpperCase());
        if (kind === "L") return map((text) => text.toLowerCase());
        if (!/^[uQEAaKk]$/.test(kind))
          this.#run.report("unknown", "hidden-expression", "a value is expanded once more, as a prompt is");
        return [markOf(value)];
      }
      default:
        return [markOf(value)];
    }
  }
}
