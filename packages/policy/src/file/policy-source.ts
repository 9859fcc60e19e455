import { type Document, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";
import type * as z from "zod";
import type { CostProblem } from "../cel/bound-cost.ts";
import { PolicyError, type PolicyErrorCode, type PolicyProblem, type SourcePlace } from "../policy-error.ts";
import type { PolicyLimits } from "../policy-limits.ts";
import { issueText, unknownKeyText, yamlText } from "./problem-text.ts";
import { shapeProblems, tooDeepAt } from "./yaml-shape.ts";

/** Steps into a document: keys of maps and indices of lists. */
export type YamlPath = readonly PropertyKey[];

/** How often anchors may be used in one file; more may grow without bounds. */
const maxAliases = 100;
const maxFaults = 50;
/** Each place is looked up in the file, which takes time. */
const maxIssues = 20;

const pathText = (path: YamlPath): string => path.map(String).join(".");

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

const pairOf = (map: unknown, key: PropertyKey) =>
  isMap(map) ? map.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;

/** A YAML 1.2 file: its value, and the problems and probable mistakes that are found in it, with their places. */
export class PolicySource {
  /** Plain values. */
  readonly value: unknown;
  readonly #text: string;
  readonly #file: string;
  #document: Document | undefined;
  readonly #problems: PolicyProblem[] = [];
  readonly #warnings: PolicyProblem[] = [];
  #hasExpression = false;

  /**
   * Throws {@link PolicyError}: `policy_too_large` beyond the limits, `policy_syntax` for invalid YAML, a duplicate key, a
   * key that is not a string, a tag, or too many aliases.
   */
  constructor(text: string, file: string, limits: PolicyLimits) {
    this.#text = text;
    this.#file = file;
    const { maxFileLength, maxFileDepth } = limits;
    if (text.length > maxFileLength) {
      const message = `the file has ${text.length} characters; a policy has at most ${maxFileLength}`;
      throw this.#failed("policy_too_large", [{ message, offset: maxFileLength }]);
    }
    const tooDeep = { message: `nested deeper than ${maxFileDepth} levels`, offset: 0 };
    const offset = tooDeepAt(text, maxFileDepth);
    if (offset !== undefined) throw this.#failed("policy_too_large", [{ ...tooDeep, offset }]);
    try {
      this.value = this.#read(limits);
    } catch (cause) {
      if (PolicyError.isInstance(cause)) throw cause;
      if (cause instanceof RangeError) throw this.#failed("policy_too_large", [tooDeep], cause);
      const isAliases = cause instanceof ReferenceError;
      const message = isAliases ? `more aliases than ${maxAliases}` : "cannot be read as YAML";
      throw this.#failed("policy_syntax", [{ message, offset: 0 }], cause);
    }
  }

  #read(limits: PolicyLimits): unknown {
    // Duplicate keys are found below: the parser compares each key with each other.
    const document = parseDocument(this.#text, {
      version: "1.2",
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    this.#document = document;
    // A warning is about an unknown tag.
    const faults = [...document.errors, ...document.warnings].slice(0, maxFaults).map(({ message, pos }) => ({
      message: yamlText(message.split("\n", 1)[0] as string),
      offset: pos[0],
    }));
    if (faults.length > 0) throw this.#failed("policy_syntax", faults);
    const shape = shapeProblems(document, limits);
    if (shape) {
      const problems = shape.problems.map(({ message, node }) => ({ message, offset: this.#offsetOf(node) }));
      throw this.#failed(shape.code, problems);
    }
    return document.toJS({ maxAliasCount: maxAliases });
  }

  /** The value, if it fits a schema. Throws {@link PolicyError} with the place of each problem. */
  parse<T>(schema: z.ZodType<T>): T {
    const result = schema.safeParse(this.value);
    if (result.success) return result.data;
    for (const outer of result.error.issues.slice(0, maxIssues)) {
      const { issue, path } = innermost(outer);
      if (issue.code === "unrecognized_keys") {
        for (const key of issue.keys.slice(0, maxIssues))
          this.#problems.push(this.#keyProblem(path, key, unknownKeyText(key, schema)));
      } else this.add(path, issueText(issue, path, this.value));
    }
    throw this.#refused();
  }

  add(path: YamlPath, message: string): void {
    const place = this.#placeAt(this.#offsetOf(this.#nodeAt(path)));
    this.#problems.push({ message, path: pathText(path), ...place });
  }

  /** Adds a problem of an expression or template: `text` is the value at `path`. */
  addInText(path: YamlPath, text: string, { message, offset }: CostProblem): void {
    this.#hasExpression = true;
    const place = this.#placeAt(this.#offsetInText(path, text, offset));
    this.#problems.push({ message, path: pathText(path), ...place });
  }

  /** Warns of a key of the map at `path`. A policy with warnings can be used. */
  warn(path: YamlPath, key: string, message: string): void {
    if (this.#warnings.length < maxIssues) this.#warnings.push(this.#keyProblem(path, key, message));
  }

  get warnings(): readonly PolicyProblem[] {
    return this.#warnings;
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw this.#refused();
  }

  #refused(): PolicyError {
    const code = this.#hasExpression ? "policy_expression" : "policy_invalid";
    return new PolicyError(code, this.#file, this.#problems);
  }

  #failed(code: PolicyErrorCode, found: readonly CostProblem[], cause?: unknown): PolicyError {
    const problems = found.map(({ message, offset }) => ({ message, path: "", ...this.#placeAt(offset) }));
    return new PolicyError(code, this.#file, problems, { cause });
  }

  /** The problem is at the key; at the map, if the key is missing. */
  #keyProblem(path: YamlPath, key: string, message: string): PolicyProblem {
    const map = this.#nodeAt(path);
    const place = this.#placeAt(this.#offsetOf(pairOf(map, key)?.key ?? map));
    return { message, path: pathText([...path, key]), ...place };
  }

  #placeAt(offset: number): SourcePlace {
    const before = this.#text.slice(0, offset);
    return { line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
  }

  #offsetOf(node: unknown): number {
    return startOf(node) ?? startOf(this.#document?.contents) ?? 0;
  }

  /** The offset in the file of the character at `offset` of a string, as far as its spelling allows. */
  #offsetInText(path: YamlPath, text: string, offset: number): number {
    const node = this.#nodeAt(path);
    const start = startOf(node);
    if (start === undefined || !isScalar(node)) return this.#offsetOf(node);
    const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
    const [line = ""] = text.slice(lineStart).split("\n", 1);
    // The column is known where the line is spelled in the file as it is in the value.
    const at = line.trim() === "" ? -1 : this.#text.slice(start, node.range?.[1]).indexOf(line);
    return at === -1 ? start : start + at + offset - lineStart;
  }

  /** The node at a path; the nearest one around it, if it is missing. */
  #nodeAt(path: YamlPath): unknown {
    let found: unknown = this.#document?.contents;
    for (const step of path) {
      const node = isAlias(found) && this.#document ? found.resolve(this.#document) : found;
      const next = isSeq(node) && typeof step === "number" ? node.items[step] : pairOf(node, step)?.value;
      if (!isNode(next)) return found;
      found = next;
    }
    return found;
  }
}

type Issue = z.core.$ZodIssue;

/** Of a union that does not fit, the issue of the member that fits furthest. */
const innermost = (issue: Issue, path: YamlPath = issue.path): { issue: Issue; path: YamlPath } => {
  if (issue.code !== "invalid_union") return { issue, path };
  let best: { issue: Issue; path: YamlPath } | undefined;
  for (const inner of issue.errors.flat()) {
    const found = innermost(inner, [...path, ...inner.path]);
    const isDeeper = best === undefined || found.path.length > best.path.length;
    const isKey = found.issue.code === "unrecognized_keys" && found.path.length === best?.path.length;
    if (isDeeper || isKey) best = found;
  }
  return best ?? { issue, path };
};
