import { forEachChild, type SyntaxNode, type WordPart } from "unbash";
import type { Interpreter } from "./interpreter.ts";
import { unknownMark } from "./marks.ts";
import type { ShellState } from "./shell-state.ts";

/** Follows what an expression runs and changes; its value is of no interest. */
export const sweepExpression = (run: Interpreter, node: SyntaxNode | WordPart, state: ShellState): void => {
  if (node.type === "CommandExpansion" || node.type === "ArithmeticCommandExpansion") {
    const printed = run.output(node.script, state);
    if (node.type === "ArithmeticCommandExpansion") run.expression(printed, state);
  } else if (node.type === "ProcessSubstitution") {
    run.channel(node.script, node.operator, state);
  } else {
    if (node.type === "TestBinary" && /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
      // Both sides are expressions: what a variable holds is run as one.
      for (const side of [node.left, node.right]) run.expression(run.expander.text(side, state), state);
    } else if (node.type === "TestUnary" && node.operator === "-v") {
      run.expression(run.expander.text(node.operand, state), state);
    }
    if (node.type === "ArithmeticWord" && !/^\d+$/.test(node.value)) {
      run.expression(node.value, state, false);
      // An expression may assign to each name that it holds.
      for (const name of node.value.match(/[A-Za-z_]\w*/g) ?? [])
        if (name === "PATH" || state.variables.has(name)) state.variables.set(name, [unknownMark]);
    }
    forEachChild(node as SyntaxNode, (child) => run.sweep(child, state));
  }
};
