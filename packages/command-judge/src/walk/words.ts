import type { DoubleQuotedChild, ParameterExpansionPart, Word, WordPart } from "unbash";
import { globMark, hasMark, unknownMark } from "../marks.ts";
import { expandBraces } from "../paths/braces.ts";
import { isPattern } from "../paths/glob.ts";
import type { Scope } from "./scope.ts";
import type { Walk } from "./walk.ts";

/** What a part of a word stands for: one value, or several words. */
interface Piece {
  readonly text: string;
  /** Whether the value is not quoted, so that it may become several words. */
  readonly splits?: boolean;
}

const unknownPiece: Piece = { text: unknownMark, splits: true };
const secretName = /key|token|secret|pass(?:w|$|_)|auth|cred|_(?:url|uri|dsn)$/i;

/**
 * Words as a program gets them. What is not known in a word is a mark; a word that may become several is followed by a
 * mark of its own. Commands inside a word are judged on the way.
 */
export class WordExpander {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** The words that a word of the syntax becomes. */
  fields(word: Word, scope: Scope): string[] {
    const { parts } = word;
    if (parts === undefined) return [word.value];
    if (parts.some(({ type }) => type === "BraceExpansion")) return this.#braces(word, parts, scope);
    const [first] = parts;
    let text = first?.type === "Glob" ? globMark : "";
    let splits = false;
    for (const part of parts) {
      const piece = this.#part(part, scope);
      if (piece.splits === true) {
        if (parts.length === 1 && !hasMark(piece.text)) return splitFields(piece.text);
        if (hasMark(piece.text) || /\s/.test(piece.text)) splits = true;
        else if (text === "" && isPattern(piece.text)) text = globMark;
      }
      text += piece.text;
    }
    return splits ? [text, unknownMark] : [text];
  }

  /** The value of a word where no words are split, as in an assignment. */
  text(word: Word, scope: Scope): string {
    return this.fields(word, scope)[0] ?? "";
  }

  /** The content of a here-document. */
  document(parts: readonly WordPart[], scope: Scope): string {
    return parts.map((part) => this.#part(part, scope).text).join("");
  }

  #braces(word: Word, parts: readonly WordPart[], scope: Scope): string[] {
    const isPlain = !/[$`'"\\<>]/.test(word.text);
    const words = isPlain ? expandBraces(word.text) : undefined;
    if (words !== undefined) return words.map((each) => (/^[*?[]/.test(each) ? globMark + each : each));
    for (const part of parts) this.#part(part, scope);
    return [unknownMark];
  }

  #part(part: WordPart | DoubleQuotedChild, scope: Scope): Piece {
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return { text: part.value };
      case "Glob": {
        const pieces = (part.parts ?? []).map((each) => this.#part(each, scope));
        return pieces.some(({ text }) => hasMark(text)) ? unknownPiece : { text: part.text };
      }
      case "DoubleQuoted":
      case "LocaleString": {
        const pieces = part.parts.map((each) => ({ each, piece: this.#part(each, scope) }));
        const isList = pieces.some(({ each }) => /^\$\{?(?:@|\w+\[@\])/.test(each.text));
        return { text: pieces.map(({ piece }) => piece.text).join(""), splits: isList };
      }
      case "SimpleExpansion":
        return this.#parameter(part.text.slice(1), scope);
      case "ParameterExpansion":
        return this.#expansion(part, scope);
      case "CommandExpansion":
        this.#walk.substitution(part.script, scope);
        return unknownPiece;
      case "ArithmeticExpansion":
        if (part.expression === undefined) this.#hidden(part.text);
        else this.#walk.expressions.arithmetic(part.expression, scope);
        return unknownPiece;
      case "ProcessSubstitution":
        this.#walk.substitution(part.script, scope);
        return { text: "/dev/fd/63" };
      default:
        for (const each of part.parts ?? []) this.#part(each, scope);
        return unknownPiece;
    }
  }

  #hidden(text: string): void {
    this.#walk.unknown("hidden-expression", `${text} may be evaluated again, and run a command`);
  }

  #parameter(name: string, scope: Scope): Piece {
    if (/^[?#$]$/.test(name)) return { text: "0" };
    const known = scope.variables.get(name);
    if (known !== undefined) return { text: known, splits: true };
    if (name === "HOME") return { text: "~", splits: false };
    if (name === "PWD" && scope.directories?.length === 1) return { text: scope.directories[0] ?? "" };
    if (secretName.test(name))
      this.#walk.secret("reads-environment", `it uses the variable ${name}, which may hold a secret`);
    return unknownPiece;
  }

  #expansion(part: ParameterExpansionPart, scope: Scope): Piece {
    const { parameter, prefix, index, operation } = part;
    if (index !== undefined && !/^(?:\d+|[@*])$/.test(index.text)) {
      this.fields(index, scope);
      this.#hidden(part.text);
    }
    if (prefix === "!") this.#hidden(part.text);
    if (operation === undefined) {
      if (prefix === "#") return { text: "0" };
      if (prefix === undefined && index === undefined) return this.#parameter(parameter, scope);
      return unknownPiece;
    }
    if (secretName.test(parameter)) this.#parameter(parameter, scope);
    switch (operation.type) {
      case "Default":
      case "Remove":
        this.fields(operation.operand, scope);
        break;
      case "Replace":
        this.fields(operation.pattern, scope);
        this.fields(operation.replacement, scope);
        break;
      case "CaseModification":
        if (operation.operand !== undefined) this.fields(operation.operand, scope);
        break;
      case "Slice":
        for (const each of [operation.offset, operation.length]) {
          if (each === undefined || /^\s*-?\d+$/.test(each.text)) continue;
          this.fields(each, scope);
          this.#hidden(part.text);
        }
        break;
      default:
        this.#hidden(part.text);
    }
    return unknownPiece;
  }
}

const splitFields = (text: string): string[] =>
  text
    .split(/[ \t\n]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[*?[]/.test(word) ? globMark + word : word));
