import { type Document, isAlias, isMap, isPair, isScalar, isSeq, Lexer, type Pair } from "yaml";
import type { PolicyErrorCode } from "../policy-error.ts";
import type { PolicyLimits } from "../policy-limits.ts";

/** Keys that are dangerous in the objects made of a policy, and never needed. */
const prototypeKeys: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);
const maxProblems = 50;

/**
 * Where YAML is nested deeper than the recursive parser can follow: brackets inside brackets, or `- - - -`. Nesting by
 * indentation needs no check: each level costs a line that is longer than the last.
 */
export const tooDeepAt = (text: string, maxDepth: number): number | undefined => {
  let offset = 0;
  let brackets = 0;
  let inLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") brackets++;
    else if (token === "]" || token === "}") brackets--;
    else if (token === "-" || token === "?" || token === ":") inLine++;
    else if (token === "\n") inLine = 0;
    if (brackets > maxDepth || (brackets === 0 && inLine > maxDepth)) return offset;
    // Control tokens of the lexer, such as the start of a document, have no place in the file.
    if (token.length > 1 || !"\u0002\u0018\u001f\ufeff".includes(token)) offset += token.length;
  }
  return undefined;
};

/** What is wrong with a key of a map; `seen` are the keys before it. */
const keyProblem = ({ key }: Pair, seen: Set<string>): string | undefined => {
  if (!isScalar(key) || typeof key.value !== "string") return "a key must be a string; put others in quotes";
  if (prototypeKeys.has(key.value)) return `${key.value} is not allowed as a key`;
  if (seen.has(key.value)) return `the key ${JSON.stringify(key.value.slice(0, 100))} is used twice`;
  seen.add(key.value);
  return undefined;
};

interface Shape {
  readonly code: PolicyErrorCode;
  readonly problems: readonly { readonly node: unknown; readonly message: string }[];
}

/**
 * Checks what a policy's YAML must not have: too many nodes or levels, duplicate keys, keys that are not strings or
 * belong to prototypes, tags, aliases without an anchor. Takes time linear to the nodes, aliases followed.
 */
export const shapeProblems = (
  document: Document,
  { maxFileNodes, maxFileDepth }: PolicyLimits,
): Shape | undefined => {
  const problems: { node: unknown; message: string }[] = [];
  const stack: { node: unknown; depth: number }[] = [{ node: document.contents, depth: 0 }];
  let nodes = 0;
  for (let step = stack.pop(); step && problems.length < maxProblems; step = stack.pop()) {
    let { node } = step;
    const depth = step.depth + 1;
    const tooLarge = (message: string): Shape => ({
      code: "policy_too_large",
      problems: [{ node, message }],
    });
    if (++nodes > maxFileNodes) return tooLarge(`more than ${maxFileNodes} values`);
    if (depth > maxFileDepth + 1) return tooLarge(`nested deeper than ${maxFileDepth} levels`);
    if (isAlias(node)) {
      const target = node.resolve(document);
      const name = JSON.stringify(node.source.slice(0, 100));
      if (!target) problems.push({ node, message: `the alias ${name} has no anchor before it` });
      node = target;
    }
    const tag = isMap(node) || isSeq(node) || isScalar(node) ? node.tag : undefined;
    if (tag && !tag.startsWith("tag:yaml.org,2002:"))
      problems.push({ node, message: "tags are not allowed in a policy" });
    if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        const message = keyProblem(pair, seen);
        if (message) problems.push({ node: pair.key ?? pair.value, message });
        stack.push({ node: pair.value, depth });
      }
    } else if (isSeq(node)) {
      for (const item of node.items) stack.push({ node: isPair(item) ? item.value : item, depth });
    }
  }
  return problems.length > 0
    ? { code: "policy_syntax", problems: problems.slice(0, maxProblems) }
    : undefined;
};
