import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import { judgeCommand } from "../src/index.ts";
import { verdictRank } from "../src/judgement.ts";
import { membersOf } from "../src/programs/spec.ts";
import { programTable } from "../src/programs/table.ts";
import { readCorpus } from "./corpus.ts";

const places = { workspace: "/work/app", home: "/home/dev" };
const corpus = readCorpus();

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Ways to run a text of the shell that change nothing of what it does. */
const wrappers: readonly ((text: string) => string)[] = [
  (text) => `sh -c ${quote(text)}`,
  (text) => `bash -euo pipefail -c ${quote(text)}`,
  (text) => `eval ${quote(text)}`,
  (text) => `bash <<< ${quote(text)}`,
  // No other one in the text ends it: theirs were shorter.
  (text) => `bash <<'END_OF_${text.length}'\n${text}\nEND_OF_${text.length}`,
  (text) => `printf %s ${quote(text)} | sh`,
  (text) => `if true; then\n${text}\nfi`,
  (text) => `for i in 1 2; do\n${text}\ndone`,
  (text) => `while sleep 1; do\n${text}\ndone`,
  (text) => `(\n${text}\n)`,
  (text) => `{\n${text}\n}`,
  (text) => `true | {\n${text}\n}`,
  (text) => `{\n${text}\n} | cat`,
  (text) => `true && {\n${text}\n} || true`,
  (text) => `echo "$(\n${text}\n)"`,
  (text) => `: <(\n${text}\n)`,
  (text) => `env A=1 sh -c ${quote(text)}`,
  (text) => `timeout -k 1 5 sh -c ${quote(text)}`,
  (text) => `nohup nice -n 5 sh -c ${quote(text)} &`,
  (text) => `command exec sh -c ${quote(text)}`,
  (text) => `sudo -u nobody sh -c ${quote(text)}`,
  (text) => `printf '%s\\n' x | xargs -I__ sh -c ${quote(text)}`,
  (text) => `find . -maxdepth 0 -exec sh -c ${quote(text)} \\;`,
  (text) => `flock lock -c ${quote(text)}`,
  (text) => `trap ${quote(text)} EXIT`,
  (text) => `git -c alias.zz=${quote(`!${text}`)} zz`,
];

/** Ways to run a text that are not followed. */
const opaque: readonly ((text: string) => string)[] = [
  (text) => `echo ${Buffer.from(text).toString("base64")} | base64 -d | sh`,
  (text) => `echo ${Buffer.from(text).toString("hex")} | xxd -r -p | bash`,
  (text) => `sh <(printf %s ${quote(text)})`,
  (text) => `t=${quote(text)}; eval "$t"`,
  (text) => `f() { eval "$1"; }; f ${quote(text)}`,
  (text) => `printf %s ${quote(text)} > made.sh; sh made.sh`,
];

/** What can stand on lines of its own within another command. */
const seeds = corpus
  .filter(
    ({ is, run, file }) =>
      verdictRank(is) > verdictRank("unknown") && file !== "evasions.yaml" && !/EOF/.test(run),
  )
  .map(({ run, is }) => ({ run, is }));

describe("judging a command", () => {
  it("keeps a verdict at least as severe in any nesting of wrappers", () => {
    expect(seeds.length).toBeGreaterThan(100);
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.integer({ min: 0, max: wrappers.length - 1 }), { minLength: 1, maxLength: 4 }),
        ({ run, is }, layers) => {
          const wrapped = layers.reduce((text, index) => wrappers[index]?.(text) ?? text, run);
          const judgement = judgeCommand(wrapped, places);
          expect(verdictRank(judgement.verdict), `${is}: ${wrapped}`).toBeGreaterThanOrEqual(verdictRank(is));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it.each(opaque.map((wrap) => [wrap("ls"), wrap] as const))(
    "does not know what runs in %s",
    (text, wrap) => {
      expect(judgeCommand(text, places).verdict).toBe("unknown");
      expect(verdictRank(judgeCommand(wrap("rm -rf /"), places).verdict)).toBeGreaterThanOrEqual(
        verdictRank("unknown"),
      );
    },
  );

  it("never keeps a harmless verdict with an option or an assignment that no table has", () => {
    const harmless = corpus.filter(({ run, is, marks }) => is === "read" && !marks && /^[\w -]+$/.test(run));
    expect(harmless.length).toBeGreaterThan(20);
    for (const { run } of harmless) {
      if (/^(?:echo|printf|true|test|command -v)\b/.test(run)) continue;
      expect([run, judgeCommand(`${run} --no-such-option`, places).verdict]).not.toEqual([run, "read"]);
      expect([run, judgeCommand(`NO_SUCH_NAME=1 ${run}`, places).verdict]).not.toEqual([run, "read"]);
      expect([run, judgeCommand(`env NO_SUCH_NAME=1 ${run}`, places).verdict]).not.toEqual([run, "read"]);
    }
  });

  it("calls no program harmless with an option that its table does not have", () => {
    // These have no options that do anything: every word is text.
    const words = /^(?:echo|test|\[|true|false|:|expr|factor|yes)$/;
    const names = [...programTable()].flatMap(([name, { commands = {} }]) => [
      name,
      ...[...membersOf(commands).keys()].map((command) => `${name} ${command}`),
    ]);
    for (const name of names) {
      if (words.test(name)) continue;
      for (const option of ["--no-such-option", "--no-such-option=./e", "-Jq7"])
        expect([name, option, judgeCommand(`${name} ${option}`, places).verdict]).not.toEqual([
          name,
          option,
          "read",
        ]);
    }
  });

  it.each(wrappers.map((wrap) => [wrap("rm -rf /"), wrap] as const))("sees through %s", (text) => {
    expect(judgeCommand(text, places).verdict).toBe("destructive");
  });

  it("never throws and always ends within its bounds, whatever the text", () => {
    const piece = fc.constantFrom(
      ..."rm -rf / | & ; && || ( ) { } $( ` \" ' \\ $ { } < > << <<< <( [[ ]] (( )) * ? ~ # ! = a=b if then fi for in do done while case esac function eval sh -c xargs env find -exec {} + awk sed -e git -c EOF \n \t \0 \uE000 \uE002 é 𝒳 \uD800 $'\\x41' {a,b} {1..9} $x $@ $1 curl -d @- python3 -c coproc select".split(
        " ",
      ),
      ...corpus.map(({ run }) => run),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 200 }),
          fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(" ")),
          fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
        ),
        (text) => {
          const judgement = judgeCommand(text, places);
          const worst = Math.max(0, ...judgement.reasons.map(({ verdict }) => verdictRank(verdict)));
          expect(verdictRank(judgement.verdict)).toBe(worst);
          expect(judgement.reasons.length).toBeLessThanOrEqual(128);
          for (const { text: why } of judgement.reasons) expect(why.length).toBeLessThanOrEqual(160);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("ends soon on texts that are made to grow or to nest", () => {
    const deep = (open: string, close: string, count: number): string =>
      open.repeat(count) + close.repeat(count);
    const texts = [
      `a=x; ${"a=$a$a$a$a; ".repeat(200)} echo $a`,
      `echo ${"{a,b}".repeat(20)}`,
      `echo {1..99999999}`,
      deep("$(", ")", 5000),
      deep("(", ")", 10_000),
      deep('"$(', ')"', 2000),
      "f() { f; f; f; }; f",
      "f() { g; g; }; g() { f; f; }; f",
      `${"for i in 1 2 3 4 5 6 7 8 9; do ".repeat(20)} rm x; ${"done; ".repeat(20)}`,
      `${"while :; do ".repeat(12)} cd ..; ${"done; ".repeat(12)}`,
      `x='eval "$x"'; eval "$x"`,
      `${"sh -c ".repeat(4000)} ls`,
      `${"env ".repeat(6000)} ls`,
      `printf '%999999999s' x | sh`,
      `echo ${"a".repeat(30_000)} | base64 -d | sh`,
      `s=${"a".repeat(3000)}; echo \${s//${"a*".repeat(5)}b/} \${s%%${"*a".repeat(5)}b}`,
      `sed '${"s/a/b/;".repeat(3000)}' x`,
      `awk '${"/".repeat(8000)}'`,
      `python3 -c '${"open(".repeat(3000)}'`,
      `cat ${"../".repeat(8000)}x`,
      `cat ${"*".repeat(8000)}x`,
      `cat ${"[".repeat(8000)}x`,
      "rm -rf /; ".repeat(3000),
      "x".repeat(40_000),
    ];
    for (const text of texts) {
      const spentMs = cpuTimer();
      const { verdict } = judgeCommand(text, places);
      expect(spentMs(), text.slice(0, 40)).toBeLessThan(2500);
      expect(verdictRank(verdict)).toBeGreaterThanOrEqual(0);
    }
  });
});
