import { describe, expect, it } from "vitest";
import { type CommandVerdict, judgeCommand } from "../src/index.ts";
import { verdictRank } from "../src/judgement.ts";
import { membersOf, type Spec } from "../src/programs/spec.ts";
import { programTable } from "../src/programs/table.ts";
import { readCorpus } from "./corpus.ts";

const corpus = readCorpus();
const places = { workspace: "/work/app", home: "/home/dev" };

const programs = new Set(programTable().keys());

/** Programs whose next word says what they do. */
const groups = new Set(
  "git npm pnpm yarn docker kubectl systemctl apt cargo go gh aws terraform pip redis-cli gpg openssl http make stash tar".split(
    " ",
  ),
);

const classOf = (word: string): string => {
  if (/^[./~]/.test(word) || word.includes("../") || /\.env|id_rsa|\.pem|credentials/.test(word)) {
    const secret = /\.env|\.ssh|\.aws|\.npmrc|\.netrc|shadow|\.pem|\.kube|\.gnupg|environ|id_/.test(word)
      ? "secret "
      : "";
    const root = /^\/(?:dev\/(?:tcp|udp)|[a-z]*)/.exec(word)?.[0] ?? ".";
    return `${secret}${/^~/.test(word) ? "~" : /\.\./.test(word) ? ".." : root}`;
  }
  // Rights of files are no names: u+s.
  if (/^[ugoa]*[+=][rwxst]+$/.test(word)) return word;
  const sign = /^[+@]/.exec(word)?.[0] ?? "";
  return sign + (/^[+@]?\d+$/.test(word) ? "0" : "n");
};

/** The command with every name and number replaced, so that only its shape is left. */
const shapeOf = (command: string): string => {
  let before = "";
  return command.replace(/\$\{[^}]*\}|[\w./~@+-]+/g, (word, at: number) => {
    if (word.startsWith("${")) return word.replace(/\w+/g, (name) => (/^\d/.test(name) ? "0" : "n"));
    const last = before;
    before = word;
    const base = word.slice(word.lastIndexOf("/") + 1);
    const isCall = command[at + word.length] === "(";
    if (word.startsWith("-") || programs.has(base) || groups.has(last) || isCall)
      return word.replace(/\d+/g, "0");
    // What is written in capitals is a word of some language: SELECT, EOF, HEAD.
    if (/^[A-Z]+$/.test(word) || /^\W+$/.test(word)) return word;
    return classOf(word);
  });
};

describe("the corpus", () => {
  it("has at least 300 commands and at least 30 kinds of evasion", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(300);
    const kinds = corpus.flatMap(({ kind }) => (kind === undefined ? [] : [kind]));
    expect(new Set(kinds).size).toBeGreaterThanOrEqual(30);
    expect(new Set(kinds).size).toBe(kinds.length);
  });

  it("has several commands of every verdict", () => {
    for (const verdict of [
      "read",
      "write",
      "network",
      "execute",
      "unknown",
      "exfiltration",
      "privilege",
      "destructive",
    ])
      expect(corpus.filter(({ is }) => is === verdict).length, verdict).toBeGreaterThanOrEqual(8);
  });

  it("reports effects with verdicts that exist, from every entry of the tables", () => {
    const check = ([name, { does, commands }]: readonly [string, Spec]): void => {
      const [verdict = "read", code = "none"] = does?.split(" ") ?? [];
      expect(verdictRank(verdict as CommandVerdict), name).toBeGreaterThanOrEqual(0);
      expect(code, name).toMatch(/^[a-z-]+$/);
      for (const member of membersOf(commands ?? {})) check(member);
    };
    for (const entry of programTable()) check(entry);
  });

  it("has no two commands that differ in names and numbers only", () => {
    const seen = new Map<string, string>();
    const twins: string[] = [];
    for (const { run } of corpus) {
      const shape = shapeOf(run);
      const other = seen.get(shape);
      if (other !== undefined) twins.push(`${other}  =  ${run}  =  ${shape}`);
      seen.set(shape, run);
    }
    expect(twins).toEqual([]);
  });

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
