import {
  type AndOr,
  type Case,
  type CommandNode,
  type For,
  type Function as FunctionNode,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Statement,
  type SyntaxNode,
  type WordPart,
} from "unbash";
import { mayRunCommand } from "./arithmetic.ts";
import type { Runner, ShellLists } from "./call.ts";
import { runSimpleCommand } from "./command.ts";
import { Expander, type Substituter } from "./expand.ts";
import { FileAccess } from "./file-access.ts";
import type { Findings } from "./findings.ts";
import { maxNesting, maxSteps, maxTextLength, maxUnrolled } from "./limits.ts";
import {
  dataMark,
  isData,
  isExact,
  isSecret,
  isUnknown,
  secretMark,
  shown,
  taintOf,
  unknownMark,
} from "./marks.ts";
import { runCommand, runProgram } from "./programs/run-program.ts";
import { applyRedirections } from "./redirections.ts";
import type { ShellState } from "./shell-state.ts";
import { sweepExpression } from "./sweep-expression.ts";
import type { ShellVerdict } from "./verdict.ts";

/** Calls of one function within itself that are followed. */
const maxRecursion = 2;

type Nodes = readonly Statement[];
/** Follows a script through everything that it may do, without doing any of it. */
export class Interpreter implements Runner, Substituter {
  readonly lists: ShellLists;
  readonly expander: Expander;
  readonly #findings: Findings;
  readonly #files: FileAccess;
  readonly #calls: string[] = [];
  /** The texts that are being run, each within the one before it. */
  readonly #texts: string[] = [];
  /** What traps run at the end. */
  readonly #later: { readonly text: string; readonly state: ShellState }[] = [];
  #steps = 0;
  #nesting = 0;
  #channels = 0;
  #at: number | undefined;
  /** How many pipelines and background jobs are around what runs now. */
  #side = 0;
  #loops = 0;

  constructor(findings: Findings, lists: ShellLists, home: string | undefined) {
    this.#findings = findings;
    this.#files = new FileAccess(findings, this);
    this.lists = lists;
    this.expander = new Expander(this, home);
  }

  /** Judges a whole command. */
  judge(command: string, state: ShellState): void {
    this.parsed(parse(command), state, undefined);
    for (const { text, state: then } of this.#later) this.script(text, then.clone(), undefined, true);
  }

  // --- what programs use
  report(verdict: ShellVerdict, code: string, text: string): void {
    this.#findings.report(verdict, code, text, this.#at);
  }

  noteSecret(): void {
    this.#findings.secrets = true;
  }

  noteNetwork(): void {
    this.#findings.network = true;
  }

  program(name: string): void {
    this.#findings.program(name);
  }

  read(path: string, state: ShellState): string {
    return this.#files.read(path, state);
  }

  write(path: string, state: ShellState, content?: string): void {
    this.#files.write(path, state, content);
  }

  touch(path: string, state: ShellState): void {
    this.#files.touch(path, state);
  }

  script(text: string, state: ShellState, stdin: string | undefined, isSameShell = false): string {
    if (!isSameShell) for (const name of state.functions.keys()) state.doubtful.add(name);
    if (!isExact(text))
      this.report("unknown", "unknown-script", "it runs a shell text that is not known in full");
    if (text.length > maxTextLength || this.#nesting >= maxNesting) {
      this.report("unknown", "too-deep", "texts stand in texts more deeply, or are longer, than is followed");
      return dataMark;
    }
    if (this.#texts.filter((each) => each === text).length > maxRecursion) {
      this.report("unknown", "recursion", "a text runs itself more deeply than is followed");
      return dataMark;
    }
    const at = this.#at;
    this.#nesting++;
    this.#texts.push(text);
    try {
      return this.parsed(parse(text), state, stdin);
    } finally {
      this.#texts.pop();
      this.#nesting--;
      this.#at = at;
    }
  }

  command(words: readonly string[], state: ShellState, stdin: string | undefined): string {
    return this.exec(words, state, stdin, runCommand);
  }

  exec(args: readonly string[], state: ShellState, stdin: string | undefined, judge = runProgram): string {
    if (!this.step() || this.#nesting >= maxNesting) {
      this.report("unknown", "too-deep", "programs start programs more deeply than is followed");
      return dataMark;
    }
    this.#nesting++;
    try {
      return judge(this, args, state, stdin);
    } finally {
      this.#nesting--;
    }
  }

  later(text: string, state: ShellState): void {
    if (this.#later.length < maxUnrolled) this.#later.push({ text, state });
    else this.report("unknown", "too-large", "it has more traps than are followed");
  }

  // --- what words use
  step(): boolean {
    if (this.#steps < maxSteps) {
      this.#steps++;
      return true;
    }
    this.report("unknown", "too-large", "it has more parts than are followed");
    return false;
  }

  output(script: ParsedScript | undefined, state: ShellState): string {
    if (script === undefined) return unknownMark;
    if (this.#nesting >= maxNesting) {
      this.report("unknown", "too-deep", "substitutions stand in each other more deeply than is followed");
      return dataMark;
    }
    this.#nesting++;
    try {
      return this.parsed(script, state.clone(), undefined);
    } finally {
      this.#nesting--;
    }
  }

  channel(script: ParsedScript | undefined, operator: "<" | ">", state: ShellState): string {
    const path = `/dev/fd/${60 + this.#channels++}`;
    if (script === undefined) return path;
    if (operator === "<") state.files.add(path, this.output(script, state));
    else this.parsed(script, state.clone(), dataMark);
    return path;
  }

  sweep(node: SyntaxNode | WordPart, state: ShellState): void {
    if (this.step()) sweepExpression(this, node, state);
  }

  expression(text: string, state: ShellState, expanded = true): void {
    if ((expanded && (/\$\(|\$\{|`/.test(text) || isData(text))) || mayRunCommand(text, state))
      this.report("unknown", "hidden-expression", `${shown(text)} is run as an expression`);
  }

  // --- the syntax
  parsed(script: ParsedScript, state: ShellState, stdin: string | undefined): string {
    for (const error of script.errors ?? []) {
      this.report("unknown", "syntax-error", `it cannot be read as a whole: ${shown(error.message)}`);
    }
    return this.#list(script.commands, state, stdin);
  }

  #list(statements: Nodes, state: ShellState, stdin: string | undefined): string {
    let printed = "";
    for (const statement of statements) {
      if (!this.step()) return dataMark;
      if (this.#nesting === 0) this.#at = statement.pos;
      const inside = statement.background === true ? state.clone() : state;
      if (statement.background === true) this.#side++;
      state.arrived = undefined;
      printed += this.#node(statement.command, inside, stdin);
      if (statement.background === true) this.#side--;
      if (printed.length > maxTextLength) printed = taintOf(printed);
    }
    return printed;
  }

  #node(node: Statement["command"], state: ShellState, stdin: string | undefined): string {
    if (!this.step()) return dataMark;
    if (this.#nesting === 0) this.#at = node.pos;
    switch (node.type) {
      case "AndOr":
        return this.#andOr(node, state, stdin);
      case "Pipeline":
        return this.#pipeline(node, state, stdin);
      default:
        return this.#command(node, state, stdin);
    }
  }

  #andOr(node: AndOr, state: ShellState, stdin: string | undefined): string {
    let printed = "";
    const left: ShellState[] = [];
    node.commands.forEach((command, index) => {
      state.arrived = undefined;
      printed += this.#node(command, state, stdin);
      if (index === node.commands.length - 1) return;
      // The list may end here.
      left.push(state.clone());
      if (node.operators[index] === "&&" && state.arrived !== undefined) state.directories = state.arrived;
      if (node.operators[index] === "&&" || index === 0) return;
      for (const other of left) state.join(other);
    });
    for (const other of left) state.join(other);
    state.arrived = undefined;
    return printed.length > maxTextLength ? taintOf(printed) : printed;
  }

  #pipeline(node: Pipeline, state: ShellState, stdin: string | undefined): string {
    const [only] = node.commands;
    if (node.commands.length === 1 && only !== undefined) return this.#command(only, state, stdin);
    let flowing = stdin;
    this.#side++;
    for (const command of node.commands) flowing = this.#node(command, state.clone(), flowing);
    this.#side--;
    return flowing ?? "";
  }

  #command(node: CommandNode, state: ShellState, stdin: string | undefined): string {
    switch (node.type) {
      case "Command":
        return runSimpleCommand(this, node, state, stdin ?? state.stdin);
      case "Redirected": {
        const streams = applyRedirections(this, node.redirects, state, stdin);
        return streams.deliver(this.#command(node.command, state, streams.stdin));
      }
      case "Function":
        // What stands in a function or a loop may be left before it is reached.
        state.functions.set(node.name.value, [node]);
        if (this.#calls.length > 0 || this.#loops > 0) state.doubtful.add(node.name.value);
        return "";
      case "Coproc":
        if (node.body.type === "CompoundList") return this.#list(node.body.commands, state.clone(), dataMark);
        return this.#command(node.body, state.clone(), dataMark);
      case "Subshell":
        return this.#list(node.body.commands, state.clone(), stdin);
      case "BraceGroup":
        return this.#list(node.body.commands, state, stdin);
      case "If":
        return this.#if(node, state, stdin);
      case "Case":
        return this.#case(node, state, stdin);
      case "For":
        return this.#for(node, state, stdin);
      case "Select":
        for (const word of node.wordlist ?? []) this.expander.fields(word, state);
        state.variables.set(node.name.value, [unknownMark]);
        return this.#loop([node.body.commands], state, stdin);
      case "While":
        return this.#loop([node.clause.commands, node.body.commands], state, stdin);
      case "ArithmeticFor":
        for (const each of [node.initialize, node.test, node.update])
          if (each !== undefined) this.sweep(each, state);
        return this.#loop([node.body.commands], state, stdin);
      default:
        this.sweep(node, state);
        return "";
    }
  }

  #if(node: If, state: ShellState, stdin: string | undefined): string {
    let printed = this.#list(node.clause.commands, state, stdin);
    const ends: ShellState[] = [];
    const branch = (body: Nodes): void => {
      const end = state.clone();
      printed += this.#list(body, end, stdin);
      ends.push(end);
    };
    branch(node.then.commands);
    for (const other of node.elif) {
      printed += this.#list(other.clause.commands, state, stdin);
      branch(other.then.commands);
    }
    if (node.else !== undefined) branch(node.else.commands);
    for (const end of ends) state.join(end);
    // What a condition chooses between is not known.
    return printed === "" ? "" : taintOf(printed);
  }

  #case(node: Case, state: ShellState, stdin: string | undefined): string {
    this.expander.text(node.word, state);
    let printed = "";
    let before = state.clone();
    for (const item of node.items) {
      for (const pattern of item.pattern) this.expander.text(pattern, state);
      const inside = before.clone();
      printed += this.#list(item.body.commands, inside, stdin);
      state.join(inside);
      before = state.clone();
    }
    return printed === "" ? "" : taintOf(printed);
  }

  #for(node: For, state: ShellState, stdin: string | undefined): string {
    const words = node.wordlist?.flatMap((word) => [...this.expander.fields(word, state)]) ?? [
      ...state.positional,
    ];
    const name = node.name.value;
    const before = state.clone();
    if (words.length > 0 && words.length <= maxUnrolled && !words.some(isUnknown)) {
      let printed = "";
      for (const word of words) {
        state.variables.set(name, [word]);
        this.#loops++;
        printed += this.#list(node.body.commands, state, stdin);
        this.#loops--;
      }
      state.join(before);
      return printed.length > maxTextLength ? taintOf(printed) : printed;
    }
    state.variables.set(name, [words.some(isSecret) ? secretMark : unknownMark]);
    return this.#loop([node.body.commands], state, stdin);
  }

  /** Runs a body until a further turn changes nothing, so that it holds for any number of turns. */
  #loop(bodies: readonly Nodes[], state: ShellState, stdin: string | undefined): string {
    let printed = "";
    for (let turn = 0; turn < 3; turn++) {
      const before = state.clone();
      const { version } = state.files;
      this.#loops++;
      for (const body of bodies) printed += this.#list(body, state, stdin);
      this.#loops--;
      state.join(before);
      if (state.sameAs(before) && state.files.version === version) break;
      // The third turn is the last: by then every name that changes is unknown, and so is where it is.
      if (turn === 1) state.directories = undefined;
    }
    return printed === "" ? "" : taintOf(printed);
  }

  /** Runs a function of the script. */
  callFunction(
    nodes: readonly FunctionNode[],
    args: readonly string[],
    state: ShellState,
    stdin: string | undefined,
  ): string {
    const name = nodes[0]?.name.value ?? "";
    const depth = this.#calls.filter((each) => each === name).length;
    if (depth > 0 && this.#side > 0)
      this.report("destructive", "fork-bomb", `${shown(name)} starts itself again and again`);
    if (depth > maxRecursion || this.#nesting >= maxNesting) {
      this.report("unknown", "recursion", `${shown(name)} calls itself more deeply than is followed`);
      return dataMark;
    }
    this.#calls.push(name);
    this.#nesting++;
    const { positional } = state;
    let printed = "";
    for (const node of nodes) {
      const inside = nodes.length === 1 ? state : state.clone();
      inside.positional = args;
      if (node.body.type === "CompoundList") printed += this.#list(node.body.commands, inside, stdin);
      else printed += this.#command(node.body, inside, stdin);
      if (inside !== state) state.join(inside);
    }
    state.positional = positional;
    this.#nesting--;
    this.#calls.pop();
    return printed;
  }
}
