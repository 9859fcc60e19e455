import { Lexer, LineCounter, parseDocument, type YAMLError } from "yaml";
import { PolicyError, type PolicyProblem } from "../policy-error.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import { shapeProblems } from "./shape-problems.ts";
import { YamlPlaces } from "./yaml-places.ts";

/** A document as plain values, and where each stands. */
export interface YamlSource {
  readonly value: unknown;
  readonly places: YamlPlaces;
}

/** How often anchors may be used, all in all, before it is a bomb. */
const maxAliases = 100;
/** What is wrong with a file is looked up in it, one by one. */
const maxFaults = 50;

/**
 * Where a text is nested deeper than a parser that calls itself can follow: brackets inside brackets, or `- - - -`.
 * What nests by indentation cannot, as each level costs a line that is longer than the last.
 */
const tooDeepAt = (text: string, maxDepth: number): number | undefined => {
  let offset = 0;
  let flow = 0;
  let inLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow++;
    else if (token === "]" || token === "}") flow--;
    else if (token === "-" || token === "?" || token === ":") inLine++;
    else if (token === "\n") inLine = 0;
    if (flow > maxDepth || (flow === 0 && inLine > maxDepth)) return offset;
    // Control tokens of the lexer, such as the start of a document, are no text.
    if (token.length > 1 || !"\u0002\u0018\u001f\ufeff".includes(token)) offset += token.length;
  }
  return undefined;
};

const firstLine = (message: string): string => message.split("\n", 1)[0] as string;

const syntaxProblem = (error: YAMLError, lines: LineCounter): PolicyProblem => {
  const { line, col } = lines.linePos(error.pos[0]);
  return {
    message: firstLine(error.message).replace(/ at line \d+, column \d+:?$/, ""),
    path: "",
    line: Math.max(1, line),
    column: Math.max(1, col),
  };
};

/**
 * Reads YAML 1.2 of one document into plain values. Throws {@link PolicyError}: `policy_too_large` beyond the limits,
 * `policy_syntax` for what is no YAML, has a key twice, a key that is no text, a tag, or too many aliases.
 */
export const readYaml = (text: string, file: string, limits: ResolvedPolicyLimits): YamlSource => {
  const at = (offset: number, message: string): PolicyProblem => {
    const before = text.slice(0, offset);
    const start = before.lastIndexOf("\n") + 1;
    return { message, path: "", line: before.split("\n").length, column: offset - start + 1 };
  };
  if (text.length > limits.maxFileLength) {
    const message = `the file has ${text.length} characters; a policy has at most ${limits.maxFileLength}`;
    throw new PolicyError("policy_too_large", file, [at(limits.maxFileLength, message)]);
  }
  const deep = `nested deeper than ${limits.maxFileDepth} levels`;
  const tooDeep = tooDeepAt(text, limits.maxFileDepth);
  if (tooDeep !== undefined) throw new PolicyError("policy_too_large", file, [at(tooDeep, deep)]);
  const lines = new LineCounter();
  try {
    // Keys are compared by ourselves: the parser compares each with each.
    const document = parseDocument(text, {
      lineCounter: lines,
      version: "1.2",
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    // A warning is about a tag that nobody knows.
    const faults = [...document.errors, ...document.warnings].slice(0, maxFaults);
    if (faults.length > 0) {
      throw new PolicyError(
        "policy_syntax",
        file,
        faults.map((fault) => syntaxProblem(fault, lines)),
      );
    }
    const places = new YamlPlaces(document, text, lines);
    const shape = shapeProblems(document, places, limits);
    if (shape) throw new PolicyError(shape.code, file, shape.problems);
    return { value: document.toJS({ maxAliasCount: maxAliases }), places };
  } catch (cause) {
    if (PolicyError.isInstance(cause)) throw cause;
    const message =
      cause instanceof RangeError
        ? deep
        : cause instanceof ReferenceError
          ? `more aliases than ${maxAliases}`
          : "cannot be read as YAML";
    const code = cause instanceof RangeError ? "policy_too_large" : "policy_syntax";
    throw new PolicyError(code, file, [at(0, message)], { cause });
  }
};
