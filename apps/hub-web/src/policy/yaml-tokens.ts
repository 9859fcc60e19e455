import type { Token } from "@harnesskit/approvals";

const pieces =
  /(?<comment>(?<![^\s])#.*)|(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|(?<key>[\w$][\w.$-]*(?=\s*:(?:\s|$)))|(?<number>\b(?:\d[\d_.]*|true|false|null)\b)|(?<program>\b(?:allow|block|modify|defer|escalate|shadow|enforce)\b)|(?<operator>[-{}[\],:|>]+)|(?<plain>[\w$]+(?:'\w+)*|\s+|[\s\S])/gu;

/** The pieces of a line of a policy, for colours alone; together they are the line. */
export const yamlTokens = (line: string): readonly Token[] =>
  [...line.matchAll(pieces)].map(({ groups = {}, 0: text }) => {
    const [kind = "plain"] = Object.keys(groups).filter((name) => groups[name] !== undefined);
    return { kind: kind as Token["kind"], text };
  });
