import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { judgeCommand } from "../../src/shell/judge-command.ts";

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
    "awk '/a|b/{print $1 | \"sort\"}' a",
    "awk 'BEGIN{while ((getline l < \"a\") > 0) print l}'",
    "x=3; echo $((x+1)) $[x]",
    "for i in 1 2 3; do echo $((i*2)); done",
    'ls() { command ls --color=auto "$@"; }; ls',
    "set -o errexit; set -- a; cat $1",
    "jobs -l; history 5",
    "env -C src ls",
    "iconv -f latin1 -t utf8 a",
    "openssl x509 -in cert.crt -noout -text",
    "tar tvf x.tar",
    "less -N a",
    "git remote -v",
    "git remote get-url origin",
    "git blame -L 1,3 a",
    "node --no-warnings -p '1 + 1'",
    "python3 -m json.tool a.json",
  ])("%s", (command) => {
    expect(judgeCommand(command, places).reasons.filter(({ verdict }) => verdict !== "read")).toEqual([]);
  });
});
