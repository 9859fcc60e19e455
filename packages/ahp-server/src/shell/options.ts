import { isUnknown, withoutMarks } from "./marks.ts";

/** The arguments of a program, told apart the way getopt does. */
export interface Options {
  readonly operands: readonly string[];
  /** Whether an argument that is not known may be an option or several arguments. */
  readonly uncertain: boolean;
  /** The names of the options that are given, as they are given. */
  readonly names: readonly string[];
  /** Whether one of these options is given: single letters, or long names of which any beginning counts. */
  has(...names: readonly string[]): boolean;
  /** The values of these options, in order. */
  values(...names: readonly string[]): readonly string[];
}

interface Given {
  readonly name: string;
  readonly value: string | undefined;
}

const matches = (given: string, wanted: string): boolean =>
  given === wanted || (given.length > 2 && wanted.length > 1 && wanted.startsWith(given));

/**
 * Reads arguments. `valued` names the options that take a value: letters and long names with spaces between. With
 * `stop`, everything from the first operand on is an operand.
 */
export const readOptions = (args: readonly string[], valued = "", stop = false): Options => {
  const taking = valued === "" ? [] : valued.split(" ");
  const given: Given[] = [];
  const operands: string[] = [];
  let uncertain = false;
  let rest = args;
  while (rest.length > 0) {
    const [arg = "", ...later] = rest;
    rest = later;
    if (arg === "--") {
      operands.push(...rest);
      break;
    }
    if (arg.startsWith("--")) {
      const equals = arg.indexOf("=");
      const name = withoutMarks(equals === -1 ? arg.slice(2) : arg.slice(2, equals));
      if (isUnknown(equals === -1 ? arg : arg.slice(0, equals))) uncertain = true;
      let value = equals === -1 ? undefined : arg.slice(equals + 1);
      if (value === undefined && taking.some((each) => each.length > 1 && matches(name, each))) {
        [value, ...rest] = rest;
      }
      given.push({ name, value });
    } else if (arg.startsWith("-") && arg.length > 1) {
      if (isUnknown(arg.slice(0, 2))) uncertain = true;
      const letters = [...arg.slice(1)];
      for (let index = 0; index < letters.length; index++) {
        const name = letters[index] ?? "";
        if (taking.includes(name)) {
          let value: string | undefined = letters.slice(index + 1).join("");
          if (value === "") [value, ...rest] = rest;
          given.push({ name, value });
          break;
        }
        if (isUnknown(name)) uncertain = true;
        else given.push({ name, value: undefined });
      }
    } else {
      if (isUnknown(arg)) uncertain = true;
      operands.push(arg);
      if (stop) {
        operands.push(...rest);
        break;
      }
    }
  }
  const find = (names: readonly string[]): Given[] =>
    given.filter(({ name }) => names.some((wanted) => matches(name, wanted)));
  return {
    operands,
    uncertain,
    names: given.map(({ name }) => name),
    has: (...names) => find(names).length > 0,
    values: (...names) => find(names).flatMap(({ value }) => (value === undefined ? [] : [value])),
  };
};
