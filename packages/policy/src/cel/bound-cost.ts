import type { ASTNode } from "@marcbachmann/cel-js";

/** The functions that are inserted into expressions. An expression that calls one by its name only counts more. */
export const guards = {
  step: "guard_step",
  value: "guard_value",
  range: "guard_range",
  match: "guard_match",
} as const;

/** A node as the library builds it: the expansion of a macro is in `meta`. */
interface Node {
  readonly op: string;
  readonly start: number;
  args: unknown;
  readonly meta?: { readonly alternate?: Node; readonly macro?: Record<string, unknown> };
}

interface Loop {
  iterable: Node;
  step: Node;
}

/** Why an expression is refused, and the offset of the place. */
export interface CostProblem {
  readonly message: string;
  readonly offset: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "op" in value && typeof value.op === "string";

const knownOperations = new Set(
  "value id . .? [] [?] call rcall list map ?: || && !_ -_ comprehension accuValue accuInc accuPush != == in + - * / % < <= > >=".split(
    " ",
  ),
);

/**
 * Inserts guards into a parsed expression before its types are checked: each step of a loop is counted, the range of a loop
 * and a bound value are measured, and `matches` runs on a linear engine. A kind of node that is not known is
 * refused, so a new version of the library adds nothing unseen. `template` parses an expression of this module.
 */
export const boundCost = (
  ast: ASTNode,
  template: (expression: string) => ASTNode,
  maxNesting: number,
): CostProblem | undefined => {
  const guarded = (name: string, argument: Node): Node => {
    const call = template(`${name}(true)`) as unknown as Node;
    call.args = [name, [argument]];
    return call;
  };

  const walk = (node: Node, nesting: number): CostProblem | undefined => {
    const { meta, op } = node;
    if (!knownOperations.has(op)) return { message: `${op} is not supported`, offset: node.start };
    if (nesting > maxNesting)
      return { message: `loops and bindings nested deeper than ${maxNesting}`, offset: node.start };
    if (meta?.alternate) return walk(meta.alternate, nesting);
    if (meta?.macro) return walkMacro(node, meta.macro, nesting);
    if (op === "comprehension") return walkLoop(node, node.args as Loop, nesting);
    if (op === "rcall" && Array.isArray(node.args) && node.args[0] === "matches") node.args[0] = guards.match;
    return walkAll(node.args, nesting);
  };

  const walkAll = (args: unknown, nesting: number): CostProblem | undefined => {
    if (isNode(args)) return walk(args, nesting);
    if (!Array.isArray(args)) return undefined;
    for (const child of args) {
      const problem = walkAll(child, nesting);
      if (problem) return problem;
    }
    return undefined;
  };

  const walkMacro = (
    node: Node,
    macro: Record<string, unknown>,
    nesting: number,
  ): CostProblem | undefined => {
    if (isNode(macro.val) && isNode(macro.exp)) {
      const problem = walk(macro.val, nesting + 1) ?? walk(macro.exp, nesting + 1);
      macro.val = guarded(guards.value, macro.val);
      return problem;
    }
    // The other macro is `has`, which follows names and calls nothing.
    if (Array.isArray(macro.args) && macro.args.length === 1) return walkAll(macro.args, nesting);
    return { message: "this macro is not supported", offset: node.start };
  };

  const walkLoop = (node: Node, loop: Loop, nesting: number): CostProblem | undefined => {
    if (!isNode(loop.iterable) || !isNode(loop.step))
      return { message: "this loop is not supported", offset: node.start };
    const problem = walk(loop.iterable, nesting + 1) ?? walk(loop.step, nesting + 1);
    loop.iterable = guarded(guards.range, loop.iterable);
    const counted = template(`${guards.step}() ? true : true`) as unknown as Node;
    const [condition] = counted.args as Node[];
    counted.args = [condition, loop.step, loop.step];
    loop.step = counted;
    return problem;
  };

  return walk(ast as unknown as Node, 0);
};
