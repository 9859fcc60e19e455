import type { ArithmeticExpression, TestExpression, Word } from "unbash";
import type { Scope } from "./scope.ts";
import type { Walk } from "./walk.ts";

/**
 * Expressions of the shell. What stands in them is evaluated again: a variable that holds `a[$(command)]` runs the
 * command. Known are numbers alone, and variables that hold them.
 */
export class ExpressionWalk {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  arithmetic(node: ArithmeticExpression, scope: Scope): void {
    if (!this.#walk.step()) return;
    switch (node.type) {
      case "ArithmeticBinary":
        this.arithmetic(node.left, scope);
        this.arithmetic(node.right, scope);
        break;
      case "ArithmeticUnary":
        this.arithmetic(node.operand, scope);
        break;
      case "ArithmeticTernary":
        for (const each of [node.test, node.consequent, node.alternate]) this.arithmetic(each, scope);
        break;
      case "ArithmeticGroup":
        this.arithmetic(node.expression, scope);
        break;
      case "ArithmeticCommandExpansion":
        this.#walk.substitution(node.script, scope);
        this.#hidden(node.text);
        break;
      default: {
        const name = /^\$?\{?(\w+)\}?$/.exec(node.value)?.[1] ?? "";
        const isNumber = /^-?\d+$/.test(scope.variables.get(name) ?? name);
        if (node.parts !== undefined)
          this.#walk.words.fields({ ...node, type: "Word", text: node.value }, scope);
        if (!isNumber) this.#hidden(node.value);
      }
    }
  }

  test(node: TestExpression, scope: Scope): void {
    if (!this.#walk.step()) return;
    switch (node.type) {
      case "TestUnary": {
        const text = this.#walk.words.text(node.operand, scope);
        if (node.operator === "-v" && !/^\w+$/.test(text)) this.#hidden(text);
        else if (/^-[a-hkprstuwxGLNOS]$/.test(node.operator)) this.#walk.list(text, scope);
        break;
      }
      case "TestBinary":
        for (const side of [node.left, node.right]) this.#side(side, node.operator, scope);
        break;
      case "TestLogical":
        for (const each of node.operands) this.test(each, scope);
        break;
      case "TestNot":
        this.test(node.operand, scope);
        break;
      default:
        this.test(node.expression, scope);
    }
  }

  #side(word: Word, operator: string, scope: Scope): void {
    const text = this.#walk.words.text(word, scope);
    if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(operator) && !/^-?\d+$/.test(text)) this.#hidden(word.text);
  }

  #hidden(text: string): void {
    this.#walk.unknown("hidden-expression", `${text} is evaluated as an expression, and may run a command`);
  }
}
