import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { judgeCommand } from "../src/index.ts";

const places = { workspace: "/work/app", home: "/home/dev" };

/** Commands that bash was seen to change or run something with, by the way in which they hide it. */
const hidden = parse(readFileSync(new URL("hidden-effects.yaml", import.meta.url), "utf8")) as Record<
  string,
  readonly string[]
>;

describe.each(Object.entries(hidden))("an effect that is hidden in %s", (_, commands) => {
  it.each(commands)("%s", (command) => {
    const { verdict, reasons } = judgeCommand(command, places);
    expect(verdict).not.toBe("read");
    expect(reasons[0]?.verdict).toBe(verdict);
  });
});

/** Commands that change nothing and show what may be a secret, or is outside of the workspace. */
const leaks = parse(readFileSync(new URL("leaks.yaml", import.meta.url), "utf8")) as readonly string[];

describe("what is shown", () => {
  it.each(leaks)("%s", (command) => {
    const { secrets, paths, verdict } = judgeCommand(command, places);
    const isMarked = secrets || paths.some((path) => path.secret || path.outside);
    expect([command, isMarked || verdict !== "read"]).toEqual([command, true]);
  });
});

it("a file that git blames in place of another is read", () => {
  expect(judgeCommand("git blame --contents .env x", places).secrets).toBe(true);
});

describe("what only looks like it", () => {
  it.each([
    "sed -n '/a/,/c/p' a",
    "sed 's/a/b/g; s|c|d|' a",
    "sed -n '/a/{n;p}' a",
    "sed '/^$/d;s/ *$//;$!N' a",
    "sed -e 1d -e '$d' -e 'y/abc/def/' a",
    "sed '2i wet' a",
    "awk 'NR>2 && /c/ {print NR\": \"$0}' a",
    "awk '{s+=$1} END {print s/NR}' a",
    "x=3; echo $((x+1)) $[x]",
    "for i in 1 2 3; do echo $((i*2)); done",
    "set -euo pipefail; cat a",
    "jobs -l; history 5",
    "env -C src ls",
    "env LC_ALL=C sort a",
    'for f in src/*.ts; do wc -l "$f"; done',
    "for d in core web; do ls packages/$d; done",
    'x=src; ls "$x" $x',
    "ls -la src | grep -v node_modules | head -20",
    "git log --oneline -5 | cat",
    "git diff HEAD~2 -- src/a.ts",
    "git -C . show --stat HEAD",
    "rg -t ts -n useState src",
    "grep -rn --include='*.ts' TODO src",
    "find src -name '*.ts' -not -path '*/x/*' -exec wc -l {} +",
    "[ -f a ] && echo yes || echo no",
    "if [[ $x == y* ]]; then echo; fi",
    "cat a 2>/dev/null || true",
    "sort a | uniq -c | sort -rn | head -3",
    "iconv -f latin1 -t utf8 a",
    "openssl x509 -in cert.crt -noout -text",
    "tar tvf x.tar",
    "less -N a",
    "git remote -v",
    "git remote get-url origin",
    "git blame -L 1,3 a",
    "node --no-warnings -p '1 + 1'",
    "node -pe '1 + 1'",
    "node -v",
    "python3 -V",
    "ps -eo pid,cmd",
    "ps -ef",
    "git branch -vv",
    "cat a | rg foo",
    "awk '{print 1e3, .5, $1/2}' a",
    "getent passwd dev",
    "apt list --installed",
    "printf 'a b' | xargs -n 1 wc -l",
  ])("%s", (command) => {
    const { reasons, paths, secrets } = judgeCommand(command, places);
    expect(reasons.filter(({ verdict }) => verdict !== "read")).toEqual([]);
    expect([secrets, paths.filter(({ outside, secret }) => outside || secret)]).toEqual([false, []]);
  });
});
