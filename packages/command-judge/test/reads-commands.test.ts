import { describe, expect, it } from "vitest";
import { commandJudge, judgeCommand } from "../src/index.ts";

const places = { workspace: "/w", directory: "/w" };
const readers = (command: string) => judgeCommand(command, places).readsCommands;

describe("a program that reads commands from its input", () => {
  it.each([
    ["bash", "bash"],
    ["sh -s a", "sh"],
    ["bash -i", "bash"],
    ["env A=1 bash", "bash"],
    ["cat | bash", "bash"],
    ["cd src && python3", "python3"],
    ["python3 -i setup.py", "python3"],
    ["node", "node"],
    ["node -i", "node"],
    ["perl", "perl"],
    ["ssh build.example", "ssh"],
    ["psql -h db.example app", "psql"],
    ["sqlite3 app.db", "sqlite3"],
    ["mysql -u root app", "mysql"],
    ["redis-cli", "redis-cli"],
    ["irb", "irb"],
    ["nc build.example 4000", "nc"],
    ["tmux", "tmux"],
    ["sudo bash", "bash"],
  ])("is named: %s", (command, name) => {
    expect(readers(command)).toEqual([name]);
  });

  it.each([
    "bash build.sh",
    "bash -c 'ls'",
    "echo ls | bash",
    "bash <<< ls",
    "python3 -c 'print(1)'",
    "python3 setup.py",
    "node server.js",
    "node -e 1",
    "perl -i -pe s/a/b/ f",
    "ssh build.example uptime",
    "psql -c 'select 1'",
    "sqlite3 app.db 'select 1'",
    "mysql -e 'select 1'",
    "ls",
    "unknown-program bash",
  ])("is not in a command that gives it what to do: %s", (command) => {
    expect(readers(command)).toEqual([]);
  });

  it("is told to a policy by readsCommands, with the first of them or an empty string", () => {
    const { call } = commandJudge().functions.find(({ signature }) =>
      signature.startsWith("readsCommands"),
    ) ?? {
      call: () => undefined,
    };
    const context = { event: {}, workspace: "/w", lists: {} };
    expect(call([{ command: "bash; python3" }], context)).toBe("bash");
    expect(call([{ command: "ls" }], context)).toBe("");
    expect(call([{ cmd: "bash" }], context)).toBe("");
  });
});
