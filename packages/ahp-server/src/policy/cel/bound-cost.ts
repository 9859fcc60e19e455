import type { ASTNode } from "@marcbachmann/cel-js";

/** The functions that are put into expressions. Who calls one by its name only counts more. */
export const guards = {
  step: "guard_step",
  value: "guard_value",
  range: "guard_range",
  match: "guard_match",
} as const;

/** A node as the library builds it: macros are expanded beside it, in `meta`. */
interface Node {
  readonly op: string;
  readonly start: number;
  args: unknown;
  readonly meta?: { readonly alternate?: Node; readonly macro?: Record<string, unknown> };
}

interface Comprehension {
  iterable: Node;
  init: Node;
  step: Node;
}

/** Why an expression is refused, and the offset of the place. */
export interface CostProblem {
  readonly message: string;
  readonly offset: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "op" in value && typeof value.op === "string";

const known = new Set(
  "value id . .? [] [?] call rcall list map ?: || && !_ -_ comprehension accuValue accuInc accuPush != == in + - * / % < <= > >=".split(
    " ",
  ),
);

/**
 * Puts guards into a parsed expression, before it is checked for types: a step is counted before each turn of a loop,
 * the range of a loop and a bound value are measured, and `matches` goes to a linear engine. Nothing that the library
 * adds in another version slips through: a node of another kind is refused.
 */
export class CostBounds {
  readonly #template: (expression: string) => ASTNode;
  readonly #maxNesting: number;

  /** `template` parses an expression of ours. */
  constructor(template: (expression: string) => ASTNode, maxNesting: number) {
    this.#template = template;
    this.#maxNesting = maxNesting;
  }

  apply(ast: ASTNode): CostProblem | undefined {
    return this.#walk(ast as unknown as Node, 0);
  }

  #walk(node: Node, nesting: number): CostProblem | undefined {
    const { meta, op } = node;
    if (!known.has(op)) return { message: `${op} is not supported`, offset: node.start };
    if (nesting > this.#maxNesting) {
      return { message: `loops and bindings deeper than ${this.#maxNesting}`, offset: node.start };
    }
    if (meta?.alternate) return this.#walk(meta.alternate, nesting);
    if (meta?.macro) return this.#macro(node, meta.macro, nesting);
    if (op === "comprehension") return this.#comprehension(node, node.args as Comprehension, nesting);
    if (op === "rcall" && Array.isArray(node.args)) {
      if (node.args[0] === "matches") node.args[0] = guards.match;
    }
    return this.#children(node.args, nesting);
  }

  #children(args: unknown, nesting: number): CostProblem | undefined {
    if (isNode(args)) return this.#walk(args, nesting);
    if (!Array.isArray(args)) return undefined;
    for (const child of args) {
      const problem = this.#children(child, nesting);
      if (problem) return problem;
    }
    return undefined;
  }

  #macro(node: Node, macro: Record<string, unknown>, nesting: number): CostProblem | undefined {
    if (isNode(macro.val) && isNode(macro.exp)) {
      const problem = this.#walk(macro.val, nesting + 1) ?? this.#walk(macro.exp, nesting + 1);
      macro.val = this.#call(guards.value, macro.val);
      return problem;
    }
    // What is left is `has`, which goes along names and calls nothing.
    if (Array.isArray(macro.args) && macro.args.length === 1) return this.#children(macro.args, nesting);
    return { message: "this macro is not supported", offset: node.start };
  }

  #comprehension(node: Node, loop: Comprehension, nesting: number): CostProblem | undefined {
    if (!isNode(loop.iterable) || !isNode(loop.init) || !isNode(loop.step)) {
      return { message: "this loop is not supported", offset: node.start };
    }
    const problem = this.#walk(loop.iterable, nesting + 1) ?? this.#walk(loop.step, nesting + 1);
    loop.iterable = this.#call(guards.range, loop.iterable);
    const guarded = this.#template(`${guards.step}() ? true : true`) as unknown as Node;
    const [condition] = guarded.args as Node[];
    guarded.args = [condition, loop.step, loop.step];
    loop.step = guarded;
    return problem;
  }

  #call(name: string, argument: Node): Node {
    const call = this.#template(`${name}(true)`) as unknown as Node;
    call.args = [name, [argument]];
    return call;
  }
}
