import type { Token } from "@harnesskit/approvals";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const lowlight = createLowlight({
  ...{ bash, c, cpp, csharp, css, go, ini, java, json, kotlin, markdown, php, python, ruby, rust, sql },
  ...{ swift, typescript, xml, yaml },
});
lowlight.registerAlias({
  typescript: ["js", "jsx", "mjs", "cjs", "javascript", "mts", "cts"],
  xml: ["svg", "vue", "svelte"],
  css: ["scss", "less"],
});

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
