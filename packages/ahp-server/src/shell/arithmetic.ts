import { isData, unknownMark } from "./marks.ts";
import type { ShellState } from "./shell-state.ts";

/** Values of values that are followed. */
const maxDepth = 8;

/** A value that can only be calculated with: numbers, names and operators, and what the environment holds. */
const isPlain = (value: string): boolean => /^[\w\s.+*/%-]*$/.test(value.replaceAll(unknownMark, ""));

/**
 * Whether an expression may run a command. A shell takes the value of each name in it as an expression again, and runs
 * the substitutions in the index of an array: with `x='a[$(id)]'`, `((x))` runs `id`. What a program printed may be such
 * a text as well. Takes the text of the expression as it stands in the script.
 */
export const mayRunCommand = (expression: string, state: ShellState): boolean => {
  const seen = new Set<string>();
  const check = (text: string, depth: number): boolean => {
    if (depth > maxDepth) return true;
    for (const name of text.match(/[A-Za-z_]\w*|(?<=\$\{?)[\d@*]+/g) ?? []) {
      if (seen.has(name)) continue;
      seen.add(name);
      const positional = /^[@*]$/.test(name) ? state.positional : [state.positional[Number(name) - 1] ?? ""];
      for (const value of /^[\d@*]/.test(name) ? positional : (state.variables.get(name) ?? []))
        if (isData(value) || !isPlain(value) || check(value, depth + 1)) return true;
    }
    return false;
  };
  return check(expression, 0);
};
