import { forEachChild, type ParsedScript, type SyntaxNode } from "unbash";

/** Commands that may change variables by a name that the syntax does not show. */
const changers =
  /^(?:read|mapfile|readarray|printf|eval|source|\.|let|getopts|declare|typeset|local|export|readonly|unset|trap|shopt|set|alias|wait|command|builtin|exec)$/;

/** Nodes of a script that are looked at. */
const maxNodes = 5000;

/**
 * The names that a script assigns exactly once, in plain sight. Empty where a script holds anything that may assign to a
 * name by another way.
 */
export const constantsOf = (script: ParsedScript): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  const note = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  let left = maxNodes;
  let isPlain = true;
  const visit = (node: SyntaxNode): void => {
    if (!isPlain || left-- <= 0) {
      isPlain = false;
      return;
    }
    if (node.type === "Assignment") {
      note(node.name);
      if (node.append === true || node.index !== undefined || node.value.type === "ArrayValue")
        note(node.name);
    } else if (node.type === "For" || node.type === "Select") note(node.name.value);
    else if (node.type === "Command" && node.name !== undefined) {
      if (node.name.parts !== undefined || changers.test(node.name.value)) isPlain = false;
      // It holds for this command alone.
      for (const each of node.prefix) if (each.type === "Assignment") note(each.name);
    } else if (node.type === "ArithmeticUnary" && /^(?:\+\+|--)$/.test(node.operator)) isPlain = false;
    else if (node.type === "ArithmeticBinary" && /^(?![=!<>]=)\S*=$/.test(node.operator)) isPlain = false;
    else if (node.type === "Default" && node.operator.includes("=")) isPlain = false;
    else if (node.type === "Function" || node.type === "Coproc" || node.type === "FileDescriptorVariable")
      isPlain = false;
    forEachChild(node, visit);
    if ("script" in node && node.script !== undefined) visit(node.script);
  };
  visit(script);
  return new Set(isPlain ? [...counts].flatMap(([name, count]) => (count === 1 ? [name] : [])) : []);
};
