import type { Token } from "@harnesskit/approvals";
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

/** A long text is not worth the time. */
const maxLength = 200_000;

const kinds: readonly (readonly [RegExp, Token["kind"]])[] = [
  [/comment|quote|doctag/, "comment"],
  [/string|regexp|addition|code|link/, "string"],
  [/number|literal|symbol|bullet/, "number"],
  [/title|section|name/, "program"],
  [/attr|property|selector/, "key"],
  [/variable|params|built_in|type|template/, "variable"],
  [/keyword|operator|meta|tag/, "operator"],
];

type Tree = ReturnType<typeof lowlight.highlight>;
type Node = Tree["children"][number];

const kindOf = (node: Node, outer: Token["kind"]): Token["kind"] => {
  if (node.type !== "element") return outer;
  const names = String(node.properties.className ?? "");
  return kinds.find(([pattern]) => pattern.test(names))?.[1] ?? outer;
};

/** The pieces of each line of a text; undefined for a language that is not known. The pieces of a line, put together, are the line. */
export const highlightLines = (text: string, language: string): readonly (readonly Token[])[] | undefined => {
  if (text.length > maxLength || !lowlight.registered(language)) return undefined;
  const lines: Token[][] = [[]];
  const add = (nodes: readonly Node[], kind: Token["kind"]): void => {
    for (const node of nodes) {
      if (node.type === "element") add(node.children as Node[], kindOf(node, kind));
      if (node.type !== "text") continue;
      for (const [index, piece] of node.value.split("\n").entries()) {
        if (index > 0) lines.push([]);
        if (piece !== "") lines.at(-1)?.push({ kind, text: piece });
      }
    }
  };
  add(lowlight.highlight(language, text).children, "plain");
  return lines;
};
