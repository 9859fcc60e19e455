import { describe, expect, it } from "vitest";
import { judgeCommand } from "../src/index.ts";
import { readCorpus } from "./corpus.ts";

const corpus = readCorpus();
const places = { workspace: "/work/app", home: "/home/dev" };

describe("the corpus", () => {
  it.each(corpus.map((entry) => [entry.run, entry] as const))("%s", (_, { run, is, marks }) => {
    const judgement = judgeCommand(run, places);
    const codes = judgement.reasons.map(({ verdict, code, text }) => `${verdict} ${code}: ${text}`);
    expect({ verdict: judgement.verdict, codes }).toEqual({ verdict: is, codes });
    if (is !== "read") expect(judgement.reasons[0]?.verdict).toBe(is);
    for (const mark of marks ?? []) expect(judgement.paths.some((path) => path[mark])).toBe(true);
    if (is === "read" && marks === undefined)
      expect(judgement.paths.filter((path) => path.outside || path.secret)).toEqual([]);
  });
});
