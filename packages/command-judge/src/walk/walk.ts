import {
  type AndOr,
  type CommandNode,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type Statement,
  type SyntaxNode,
} from "unbash";
import { Findings } from "../findings.ts";
import { maxNesting, maxSteps, maxTextLength, maxUnrolled } from "../limits.ts";
import { hasMark, unknownMark } from "../marks.ts";
import { runProgram } from "../programs/run-program.ts";
import { constantsOf } from "./constants.ts";
import { noteAssignment } from "./environment.ts";
import { ExpressionWalk } from "./expressions.ts";
import type { Scope } from "./scope.ts";
import { runSimpleCommand, streamsOf } from "./simple-command.ts";
import { WordExpander } from "./words.ts";

/**
 * One walk over the syntax of a command. Everything that may run is walked once, whether or not it is reached; what is
 * found is only ever added.
 */
export class Walk extends Findings {
  readonly words = new WordExpander(this);
  readonly expressions = new ExpressionWalk(this);
  #constants: ReadonlySet<string> = new Set();
  #steps = 0;
  #nesting = 0;

  // --- nested commands
  /** Counts one step; false where there are too many. */
  step(): boolean {
    if (++this.#steps <= maxSteps) return true;
    this.unknown("too-large", "it has more parts than are looked at");
    return false;
  }

  #nested(look: () => string): string {
    if (this.#nesting >= maxNesting || !this.step()) {
      this.unknown("too-deep", "commands are nested more deeply than is followed");
      return unknownMark;
    }
    this.#nesting++;
    try {
      return look();
    } finally {
      this.#nesting--;
    }
  }

  /** Judges a shell text; returns what it prints. */
  script(text: string, scope: Scope, stdin: string | undefined): string {
    if (hasMark(text))
      this.unknown("unknown-script", `it runs a shell script that is not known in full: ${text}`);
    if (text.length > maxTextLength) {
      this.unknown("too-large", "a shell script is too long to be judged");
      return unknownMark;
    }
    return this.#nested(() => {
      const parsed = parse(text);
      const outer = this.#constants;
      this.#constants = constantsOf(parsed);
      const printed = this.parsed(parsed, scope, stdin);
      this.#constants = outer;
      return printed;
    });
  }

  /** Judges a program with its arguments; returns what it prints. */
  run(words: readonly string[], scope: Scope, stdin: string | undefined): string {
    return this.#nested(() => runProgram(this, words, scope, stdin));
  }

  /** Judges a substitution. */
  substitution(script: ParsedScript | undefined, scope: Scope): void {
    if (script === undefined) this.unknown("syntax-error", "a substitution cannot be parsed");
    else this.#nested(() => this.parsed(script, scope.clone(), undefined));
  }

  parsed(script: ParsedScript, scope: Scope, stdin: string | undefined): string {
    for (const { message } of script.errors ?? [])
      this.unknown("syntax-error", `it cannot be parsed as a whole: ${message}`);
    return this.#list(script.commands, scope, stdin);
  }

  // --- the syntax
  #list(statements: readonly Statement[], scope: Scope, stdin: string | undefined): string {
    const printed: string[] = [];
    for (const { command, background } of statements) {
      if (!this.step()) return unknownMark;
      printed.push(this.#statement(command, background === true ? scope.clone() : scope, stdin));
    }
    return printed.length === 1 ? (printed[0] ?? "") : unknownMark;
  }

  #statement(node: Statement["command"], scope: Scope, stdin: string | undefined): string {
    if (!this.step()) return unknownMark;
    if (node.type === "AndOr") return this.#andOr(node, scope, stdin);
    if (node.type === "Pipeline") return this.#pipeline(node, scope, stdin);
    const before = scope.directories;
    const printed = this.#command(node, scope, stdin);
    // `cd` may fail, and the next command runs where it was.
    if (scope.directories !== before) scope.join(before);
    this.#bind(node, scope);
    return printed;
  }

  /** Keeps the value of a variable that is assigned here and nowhere else. */
  #bind(node: CommandNode, scope: Scope): void {
    if (node.type !== "Command" || node.name !== undefined) return;
    for (const each of node.prefix)
      if (each.type === "Assignment" && each.value.type === "Word" && this.#constants.has(each.name))
        scope.variables.set(each.name, this.words.text(each.value, scope));
  }

  #andOr(node: AndOr, scope: Scope, stdin: string | undefined): string {
    const before = scope.directories;
    const inside = scope.clone();
    node.commands.forEach((command, index) => {
      const here = inside.directories;
      if (command.type === "Pipeline") this.#pipeline(command, inside, stdin);
      else this.#command(command, inside, stdin);
      // After `&&` a `cd` has succeeded.
      if (node.operators[index] !== "&&" && inside.directories !== here) inside.join(here);
    });
    scope.directories = inside.directories;
    scope.join(before);
    return unknownMark;
  }

  #pipeline(node: Pipeline, scope: Scope, stdin: string | undefined): string {
    const [only] = node.commands;
    if (node.commands.length === 1 && only !== undefined) return this.#command(only, scope, stdin);
    let flowing = stdin;
    for (const command of node.commands) {
      if (!this.step()) return unknownMark;
      flowing = this.#command(command, scope.clone(), flowing);
    }
    return flowing ?? unknownMark;
  }

  #block(body: CompoundList, scope: Scope, stdin: string | undefined): void {
    const inside = scope.clone();
    this.#list(body.commands, inside, stdin);
    scope.join(inside.directories);
  }

  /** A body that may run again: it may begin where it ended. */
  #loop(bodies: readonly CompoundList[], scope: Scope, stdin: string | undefined): void {
    if (bodies.some(changesDirectory)) scope.directories = undefined;
    for (const body of bodies) this.#block(body, scope, stdin);
  }

  #command(node: CommandNode, scope: Scope, stdin: string | undefined): string {
    switch (node.type) {
      case "Command":
        return runSimpleCommand(this, node, scope, stdin);
      case "Redirected":
        this.#command(node.command, scope, streamsOf(this, node.redirects, scope, stdin));
        break;
      case "Function":
        this.#function(node.name.value, node.body, scope);
        break;
      case "Coproc":
        if (node.body.type === "CompoundList") this.#block(node.body, scope.clone(), unknownMark);
        else this.#command(node.body, scope.clone(), unknownMark);
        break;
      case "Subshell":
        return this.#list(node.body.commands, scope.clone(), stdin);
      case "BraceGroup":
        return this.#list(node.body.commands, scope, stdin);
      case "If":
        this.#block(node.clause, scope, stdin);
        this.#block(node.then, scope, stdin);
        for (const other of node.elif) {
          this.#block(other.clause, scope, stdin);
          this.#block(other.then, scope, stdin);
        }
        if (node.else !== undefined) this.#block(node.else, scope, stdin);
        break;
      case "Case":
        this.words.fields(node.word, scope);
        for (const { pattern, body } of node.items) {
          for (const word of pattern) this.words.fields(word, scope);
          this.#block(body, scope, stdin);
        }
        break;
      case "For":
      case "Select": {
        const words = node.wordlist?.flatMap((word) => this.words.fields(word, scope)) ?? [unknownMark];
        const inside = scope.clone();
        noteAssignment(this, node.name.value, unknownMark, false, scope);
        if (node.type === "For" && this.#constants.has(node.name.value) && words.length <= maxUnrolled)
          for (const word of words) {
            inside.variables.set(node.name.value, word);
            this.#loop([node.body], inside, stdin);
          }
        else this.#loop([node.body], inside, stdin);
        scope.join(inside.directories);
        break;
      }
      case "While":
        this.#loop([node.clause, node.body], scope, stdin);
        break;
      case "ArithmeticFor":
        for (const each of [node.initialize, node.test, node.update])
          if (each !== undefined) this.expressions.arithmetic(each, scope);
        this.#loop([node.body], scope, stdin);
        break;
      case "TestCommand":
        this.expressions.test(node.expression, scope);
        break;
      case "ArithmeticCommand":
        if (node.expression !== undefined) this.expressions.arithmetic(node.expression, scope);
        break;
      default:
        this.unknown("syntax-error", "it holds syntax that is not known");
    }
    return unknownMark;
  }

  #function(name: string, body: CommandNode | CompoundList, scope: Scope): void {
    const inside = scope.fresh();
    inside.directories = undefined;
    if (body.type === "CompoundList") this.#list(body.commands, inside, undefined);
    else this.#command(body, inside, undefined);
    if (callsItself(name, body))
      this.report("destructive", "fork-bomb", `the function ${name} starts itself again and again`);
    this.unknown("function", `it defines the function ${name}`);
  }
}

const someNode = (node: SyntaxNode, matches: (node: SyntaxNode) => boolean): boolean => {
  let found = matches(node);
  if (!found)
    forEachChild(node, (child) => {
      found ||= someNode(child, matches);
    });
  return found;
};

const changesDirectory = (body: CompoundList): boolean =>
  someNode(
    body,
    (node) =>
      node.type === "Command" &&
      (node.name?.parts !== undefined || /^(?:cd|pushd|popd|builtin|command)$/.test(node.name?.value ?? "")),
  );

/** Whether a function calls itself in a pipeline or in the background. */
const callsItself = (name: string, body: SyntaxNode): boolean =>
  someNode(body, (node) => {
    const isSide = node.type === "Pipeline" || (node.type === "Statement" && node.background === true);
    return isSide && someNode(node, (each) => each.type === "Command" && each.name?.value === name);
  });
