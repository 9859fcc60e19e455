import { didYouMean } from "../nearest-name.ts";

const functions = [
  ...["startsWith", "endsWith", "contains", "matches", "size", "has", "exists", "exists_one", "all"],
  ...["filter", "map", "lowerAscii", "upperAscii", "split", "join", "string", "int", "double", "bool"],
];

const tokens: Readonly<Record<string, string>> = {
  ...{ RPAREN: '")"', RBRACKET: '"]"', RBRACE: '"}"', LPAREN: '"("', COLON: '":"', COMMA: '","' },
  ...{ EOF: "the end", IDENTIFIER: "a name" },
};

/** What is wrong with an expression, and what to write instead. `summary` is the parser's or the checker's. */
export const celProblemText = (summary: string, variables: readonly string[]): string => {
  const variable = /^Unknown variable: (\w+)/.exec(summary)?.[1];
  if (variable !== undefined)
    return `unknown name "${variable}"; ${didYouMean(variable, variables) ?? `an expression knows ${variables.join(", ")}`}`;
  const called = /^found no matching overload for '(?:[^.(]*\.)?(\w+)\(/.exec(summary)?.[1];
  if (called !== undefined) {
    const others = functions.filter((name) => name !== called);
    const meant = didYouMean(called, others);
    return [`no function "${called}" takes these values`, ...(meant ? [meant] : [])].join("; ");
  }
  if (/^Unexpected character: =/.test(summary)) return "= is no operator: two values are compared with ==";
  const [, expected = "", got = ""] = /^Expected (\w+), got (\w+)/.exec(summary) ?? [];
  if (expected === "") return summary;
  return `${tokens[expected] ?? expected} is missing before ${tokens[got] ?? got}`;
};
