import { nearestName } from "@harnesskit/wire";

const functions = [
  ...["startsWith", "endsWith", "contains", "matches", "size", "has", "exists", "exists_one", "all"],
  ...["filter", "map", "lowerAscii", "upperAscii", "split", "join", "string", "int", "double", "bool"],
];

const tokens: Readonly<Record<string, string>> = {
  ...{ RPAREN: '")"', RBRACKET: '"]"', RBRACE: '"}"', LPAREN: '"("', COLON: '":"', COMMA: '","' },
  ...{ EOF: "the end", IDENTIFIER: "a name" },
};

const suggestion = (name: string, names: readonly string[]): string => {
  const near = nearestName(name, names);
  return near === undefined ? "" : `; did you mean "${near}"?`;
};

/** What is wrong with an expression, and what to write instead. `summary` is the parser's or the checker's. */
export const celProblemText = (summary: string, variables: readonly string[]): string => {
  const variable = /^Unknown variable: (\w+)/.exec(summary)?.[1];
  if (variable !== undefined)
    return `unknown name "${variable}"${suggestion(variable, variables) || `; an expression knows ${variables.join(", ")}`}`;
  const called = /^found no matching overload for '(?:[^.(]*\.)?(\w+)\(/.exec(summary)?.[1];
  if (called !== undefined)
    return `no function "${called}" takes these values${suggestion(
      called,
      functions.filter((name) => name !== called),
    )}`;
  if (/^Unexpected character: =/.test(summary)) return "= is no operator: two values are compared with ==";
  const [, expected = "", got = ""] = /^Expected (\w+), got (\w+)/.exec(summary) ?? [];
  if (expected === "") return summary;
  return `${tokens[expected] ?? expected} is missing before ${tokens[got] ?? got}`;
};
