import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realPathOf } from "@harnesskit/node-kit";
import { beforeAll, describe, expect, it } from "vitest";
import { commandJudge, judgeCommand, judgePath } from "../src/index.ts";

let root: string;
let workspace: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "judge-links-")));
  workspace = join(root, "work");
  for (const each of ["work/src", "work/deep/er", "other/below", "other/.ssh"]) {
    mkdirSync(join(root, each), { recursive: true });
  }
  writeFileSync(join(root, "other/policy.yaml"), "");
  symlinkSync(join(root, "other"), join(workspace, "out"));
  symlinkSync("../other/below", join(workspace, "below"));
  symlinkSync("../other/new.txt", join(workspace, "dangling"));
  symlinkSync("../other/.ssh/id_rsa", join(workspace, "notes.txt"));
  symlinkSync("deep/er", join(workspace, "near"));
  symlinkSync("loop", join(workspace, "loop"));
  symlinkSync(workspace, join(root, "alias"));
  return () => rmSync(root, { recursive: true, force: true });
});

describe("a path behind symbolic links", () => {
  const at = (path: string, place = workspace) => judgePath(path, { workspace: place, realPath: realPathOf });

  it("is outside where they lead out of the workspace, and says where", () => {
    expect(at("out/a.txt")).toMatchObject({ outside: true, target: join(root, "other/a.txt") });
    expect(at("below/../a.txt")).toMatchObject({ outside: true, target: join(root, "other/a.txt") });
    expect(at("dangling")).toMatchObject({ outside: true, target: join(root, "other/new.txt") });
    expect(at("notes.txt")).toMatchObject({ outside: true, secret: true });
    expect(at("loop/a.txt")).toMatchObject({ outside: true, unknown: true });
    expect(judgePath("out/a.txt", { workspace })).toMatchObject({ outside: false });
  });

  it("is inside where they stay in the workspace, also where that is a link itself", () => {
    expect(at("src/new.txt")).toEqual({
      path: join(workspace, "src/new.txt"),
      outside: false,
      secret: false,
      unknown: false,
    });
    expect(at("near/a.txt")).toMatchObject({ outside: false, target: join(workspace, "deep/er/a.txt") });
    expect(at("a.txt", join(root, "alias"))).toMatchObject({ outside: false });
    expect(at("out/a.txt", join(root, "alias"))).toMatchObject({ outside: true });
    const allowed = { workspace, realPath: realPathOf, lists: { allowedPaths: [join(root, "other")] } };
    expect(judgePath("out/a.txt", allowed)).toMatchObject({ outside: false });
  });

  it("is outside in a command, too", () => {
    const paths = judgeCommand("echo x > out/a.txt", { workspace, realPath: realPathOf }).paths;
    expect(paths).toContainEqual(
      expect.objectContaining({ access: "write", outside: true, target: join(root, "other/a.txt") }),
    );
  });

  it("is named in the reason of a policy, and guards the policy's own files", () => {
    const { functions, changesFiles } = commandJudge({ realPath: realPathOf });
    const files = functions.find(({ signature }) => signature.startsWith("files"));
    const context = { event: { payload: { tool_name: "write" } }, workspace, lists: {} };
    expect(files?.call([{ path: "out/a.txt" }], context)).toMatchObject({
      outside: true,
      why: `${join(workspace, "out/a.txt")}, which leads to ${join(root, "other/a.txt")}, is outside the workspace`,
    });
    const own = [join(root, "other/policy.yaml")];
    const write = { tool: "write", args: { path: "out/policy.yaml" }, workspace };
    const run = { tool: "bash", args: { command: "echo > out/policy.yaml" }, workspace };
    expect([changesFiles(write, own), changesFiles(run, own)]).toEqual([true, true]);
    expect(changesFiles({ ...write, args: { path: "out/other.yaml" } }, own)).toBe(false);
  });
});
