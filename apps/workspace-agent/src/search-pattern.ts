import { ToolError } from "@harnesskit/agent-sdk";
import { maxPatternLength } from "./limits.ts";
import { asInRipgrep, type Both, both, classEscape, literal, wordBoundary } from "./search-syntax.ts";

const maxRepeat = 1000;
const maxDepth = 50;

/**
 * One pattern for two engines, with the same meaning in both: for ripgrep with `--crlf`, and as a JavaScript
 * expression for single lines without their line end.
 */
export interface SearchPattern {
  /**
   * Undefined where something comes after a `$`: that holds for nothing but assertions and what may be empty, and in
   * some versions of ripgrep not even there, as their `$` takes the CR of a CRLF along.
   */
  readonly ripgrep: string | undefined;
  readonly source: string;
  readonly flags: string;
}

/**
 * Compiles a search pattern. It is matched within single lines; the syntax is what ripgrep and JavaScript have in
 * common: literals, `.`, `[…]`, `\d \w \s` and their opposites, `\b`, `\p{L}`, `^`, `$`, groups, `|`, `* + ? {n,m}` and
 * their lazy forms, `(?i)` at the start. A brace that is no repetition stands for itself. Nothing matches a CR, not
 * even one within a line, nor bytes that are no UTF-8 or the U+FFFD that stands for them.
 * Throws `ToolError` `tool.invalid_input` for anything else.
 */
export function compileSearchPattern(pattern: string): SearchPattern {
  if (pattern === "" || pattern.length > maxPatternLength)
    throw invalid(pattern === "" ? "is empty" : `is longer than ${maxPatternLength} characters`);
  const ignoresCase = pattern.startsWith("(?i)");
  const { ripgrep, javascript } = new PatternParser(ignoresCase ? pattern.slice(4) : pattern).parse();
  const flags = ignoresCase ? "iv" : "v";
  try {
    new RegExp(javascript, flags);
  } catch {
    throw invalid("cannot be compiled");
  }
  return {
    ripgrep: ripgrep === undefined ? undefined : (ignoresCase ? "(?i)" : "") + ripgrep,
    source: javascript,
    flags,
  };
}

const invalid = (reason: string): ToolError =>
  new ToolError("tool.invalid_input", `the search pattern ${reason}`);

class PatternParser {
  readonly #characters: readonly string[];
  #at = 0;
  #ripgrep = "";
  #javascript = "";
  /** Whether a way through the pattern to here goes through a `$`. */
  #ended = false;
  #goesOnAfterEnd = false;

  constructor(pattern: string) {
    this.#characters = [...pattern];
  }

  parse(): { ripgrep: string | undefined; javascript: string } {
    this.#alternatives(0);
    if (this.#at < this.#characters.length) throw invalid("has a ) without a (");
    return { ripgrep: this.#goesOnAfterEnd ? undefined : this.#ripgrep, javascript: this.#javascript };
  }

  /** Returns how often the innermost part may be repeated by counts, multiplied over the nesting. */
  #alternatives(depth: number): number {
    if (depth > maxDepth) throw invalid("is nested too deeply");
    let repeats = 1;
    const endedBefore = this.#ended;
    let anyEnds = false;
    for (let next = this.#peek(); next !== undefined && next !== ")"; next = this.#peek()) {
      if (next === "|") {
        anyEnds ||= this.#ended;
        this.#ended = endedBefore;
      } else {
        this.#goesOnAfterEnd ||= this.#ended;
      }
      repeats = Math.max(repeats, this.#term(next, depth));
    }
    this.#ended ||= anyEnds;
    return repeats;
  }

  #term(next: string, depth: number): number {
    this.#at++;
    if (next === "|") return this.#emit(both("|"));
    if (next === "$") this.#ended = true;
    if (next === "^" || next === "$") return this.#emit(both(next));
    if (next === "*" || next === "+" || next === "?") throw invalid(`has nothing to repeat before ${next}`);
    if (next === "(") return this.#quantified(this.#group(depth));
    if (next === "[") return this.#quantified(this.#class());
    if (next === ".")
      return this.#quantified(this.#emit({ ripgrep: ".", javascript: asInRipgrep("[^\\n]") }));
    if (next !== "\\") return this.#quantified(this.#emit(this.#literal(next)));
    if (this.#peek() !== "b") return this.#quantified(this.#escapeOutside());
    this.#at++;
    return this.#emit(wordBoundary);
  }

  #group(depth: number): number {
    const rest = this.#rest();
    const prefix = /^(?:\?:|\?P?<[A-Za-z_]\w*>)/.exec(rest)?.[0] ?? "";
    if (prefix === "" && rest.startsWith("?"))
      throw invalid("uses lookaround or inline flags, which are not supported beside (?i) at the start");
    this.#at += prefix.length;
    this.#emit(both("(?:"));
    const repeats = this.#alternatives(depth + 1);
    if (this.#peek() !== ")") throw invalid("has a ( without a )");
    this.#at++;
    this.#emit(both(")"));
    return repeats;
  }

  /** Takes the repetition after a term, if there is one. */
  #quantified(repeats: number): number {
    const found = /^(?:[*+?]|\{(\d{1,6})(?:(,)(\d{1,6})?)?\})/.exec(this.#rest());
    if (found === null) return repeats;
    // It may be met once more.
    this.#goesOnAfterEnd ||= this.#ended;
    const [text, low, , high] = found;
    const most = Math.max(Number(low ?? 1), Number(high ?? 1));
    if (low !== undefined && high !== undefined && Number(high) < Number(low))
      throw invalid("has a repetition whose bounds are in the wrong order");
    if (repeats * most > maxRepeat) throw invalid(`repeats something more than ${maxRepeat} times`);
    this.#at += text.length;
    const lazy = this.#peek() === "?" ? "?" : "";
    this.#at += lazy.length;
    this.#emit(both(text + lazy));
    if (/^(?:[*+?]|\{\d)/.test(this.#rest())) throw invalid("repeats a repetition");
    return Math.max(1, repeats * most);
  }

  #class(): number {
    let negated = "";
    if (this.#peek() === "^") {
      negated = "^";
      this.#at++;
    }
    const start = this.#javascript.length;
    this.#emit(both(`[${negated}`));
    for (let first = true; ; first = false) {
      const next = this.#peek();
      if (next === undefined) throw invalid("has a [ without a ]");
      this.#at++;
      if (next === "]" && !first) break;
      if (next === "[" && /^[:.=]/.test(this.#rest()))
        throw invalid("uses a POSIX class, which is not supported");
      const low = next === "\\" ? this.#escape() : this.#literal(next);
      if (this.#peek() === "-" && this.#characters[this.#at + 1] !== "]") this.#range(low);
      else this.#emit(low);
    }
    this.#emit(both("]"));
    this.#javascript = this.#javascript.slice(0, start) + asInRipgrep(this.#javascript.slice(start));
    return 1;
  }

  #range(low: Both): void {
    this.#at++;
    const next = this.#peek();
    if (next === undefined) throw invalid("has a [ without a ]");
    this.#at++;
    const high = next === "\\" ? this.#escape() : this.#literal(next);
    if (low.code === undefined || high.code === undefined || high.code < low.code)
      throw invalid("has a range in [ ] that is none");
    this.#emit(low);
    this.#emit(both("-"));
    this.#emit(high);
  }

  /** What a backslash and what follows it stand for. */
  #escape(): Both {
    const found = classEscape(this.#rest());
    if (typeof found === "string") throw invalid(found);
    this.#at += found.length;
    return found.term;
  }

  #escapeOutside(): 1 {
    const term = this.#escape();
    return this.#emit(term.code === undefined ? { ...term, javascript: asInRipgrep(term.javascript) } : term);
  }

  #literal(character: string): Both {
    const found = literal(character.codePointAt(0) ?? 0);
    if (typeof found === "string") throw invalid(found);
    return found;
  }

  #emit(term: Both): 1 {
    this.#ripgrep += term.ripgrep;
    this.#javascript += term.javascript;
    return 1;
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  /** Enough of what follows for every fixed form. */
  #rest(): string {
    return this.#characters.slice(this.#at, this.#at + 80).join("");
  }
}
