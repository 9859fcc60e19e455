import { mkdir, readFile, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Deadline } from "../src/deadline.ts";
import { takeSnapshot } from "../src/file-snapshot.ts";
import { stillInside } from "../src/list-files.ts";
import { PinnedDirectory } from "../src/pinned-directory.ts";
import { replaceFile } from "../src/replace-file.ts";
import { Workspace } from "../src/workspace.ts";
import { Fixture, failureCode, type PreparedCall, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
  await fixture.put("dir/secret.txt", "secret\n");
});
afterEach(() => fixture[Symbol.asyncDispose]());

const swapDirectory = async () => {
  await rename(fixture.path("dir"), fixture.path("moved"));
  await symlink(fixture.outside, fixture.path("dir"));
};
const swapFile = async () => {
  await unlink(fixture.path("dir/secret.txt"));
  await symlink(join(fixture.outside, "secret.txt"), fixture.path("dir/secret.txt"));
};
const swapFileInside = async () => {
  await fixture.put("other.txt", "secret\n");
  await unlink(fixture.path("dir/secret.txt"));
  await symlink("../other.txt", fixture.path("dir/secret.txt"));
};
const swapRoot = async () => {
  await rename(fixture.directory, `${fixture.directory}-moved`);
  await symlink(fixture.outside, fixture.directory);
  await mkdir(join(fixture.outside, "dir"));
  await writeFile(join(fixture.outside, "dir/secret.txt"), "secret\n");
};

const inputs = {
  read: { path: "dir/secret.txt" },
  write: { path: "dir/secret.txt", content: "overwritten\n" },
  edit: { path: "dir/secret.txt", oldText: "secret", newText: "overwritten" },
  glob: { pattern: "*", path: "dir" },
  grep: { pattern: "secret", path: "dir/secret.txt" },
} as const;
const names = Object.keys(inputs) as (keyof typeof inputs)[];

describe("a link planted between preparing and running", () => {
  it.each(names)("in place of a directory stops %s", async (name) => {
    const prepared: PreparedCall = await fixture.prepare(name, inputs[name]);
    await swapDirectory();
    expect(await failureCode(run(prepared))).toBe("tool.outside_workspace");
    expect(await fixture.listing(fixture.outside)).toEqual({ "secret.txt": "secret\n" });
  });

  it.each(names.filter((name) => name !== "glob"))("in place of the file stops %s", async (name) => {
    const prepared = await fixture.prepare(name, inputs[name]);
    await swapFile();
    expect(await failureCode(run(prepared))).toBe("tool.outside_workspace");
    expect(await fixture.listing(fixture.outside)).toEqual({ "secret.txt": "secret\n" });
  });

  it.each(names.filter((name) => name !== "glob"))("to another file inside stops %s", async (name) => {
    const prepared = await fixture.prepare(name, inputs[name]);
    await swapFileInside();
    expect(await failureCode(run(prepared))).toBe("tool.changed");
    expect(await fixture.text("other.txt")).toBe("secret\n");
  });

  it.each([...names, "bash"] as const)("in place of the workspace stops %s", async (name) => {
    const input = name === "bash" ? { command: "echo planted > planted.txt" } : inputs[name];
    const prepared = await fixture.prepare(name, input);
    await swapRoot();
    try {
      expect(await failureCode(run(prepared))).toBe("tool.outside_workspace");
      expect(await fixture.listing(fixture.outside)).toEqual({
        dir: "(no file)",
        "dir/secret.txt": "secret\n",
        "secret.txt": "secret\n",
      });
    } finally {
      await rm(fixture.directory);
    }
  });

  it("stops a write to a new file, and no directory is made over it", async () => {
    const prepared = await fixture.prepare("write", { path: "new/deep/a.txt", content: "x" });
    await symlink(fixture.outside, fixture.path("new"));
    expect(await failureCode(run(prepared))).toBe("tool.outside_workspace");
    expect(await fixture.listing(fixture.outside)).toEqual({ "secret.txt": "secret\n" });
  });
});

it("files that were listed are dropped where a link was planted meanwhile, or where they are gone", async () => {
  for (const path of ["dir/a", "dir/b/c", "kept/a", "kept/file", "gone"]) await fixture.put(path, "");
  await writeFile(join(fixture.outside, "a"), "");
  const listed = ["dir/a", "dir/b/c", "gone", "kept/a", "kept/file"];
  await swapDirectory();
  await unlink(fixture.path("gone"));
  await unlink(fixture.path("kept/file"));
  await symlink("a", fixture.path("kept/file"));
  const workspace = await Workspace.open(fixture.directory);
  const deadline = new Deadline(new AbortController().signal, 10_000);
  expect(await stillInside(workspace, listed, 10, deadline)).toEqual(["kept/a"]);
});

describe("replacing a file", () => {
  it("is not led away by a link that is planted after the checks", async () => {
    const workspace = await Workspace.open(fixture.directory);
    const before = await takeSnapshot(workspace, "dir/secret.txt", 1000);
    await swapDirectory();
    expect(await failureCode(replaceFile(workspace, "dir/secret.txt", Buffer.from("x"), before))).toBe(
      "tool.not_a_file",
    );
    const absent = { exists: false, state: "absent" } as const;
    expect(await failureCode(replaceFile(workspace, "dir/new.txt", Buffer.from("x"), absent))).toBe(
      "tool.not_a_file",
    );
    expect(await fixture.listing(fixture.outside)).toEqual({ "secret.txt": "secret\n" });
  });

  it("does not overwrite what appeared or changed after the checks, and leaves no temporary file", async () => {
    const workspace = await Workspace.open(fixture.directory);
    const before = await takeSnapshot(workspace, "dir/secret.txt", 1000);
    await fixture.put("dir/secret.txt", "newer\n");
    expect(await failureCode(replaceFile(workspace, "dir/secret.txt", Buffer.from("x"), before))).toBe(
      "tool.changed",
    );
    const absent = { exists: false, state: "absent" } as const;
    expect(await failureCode(replaceFile(workspace, "dir/secret.txt", Buffer.from("x"), absent))).toBe(
      "tool.changed",
    );
    await fixture.link("dir/planted", join(fixture.outside, "planted"));
    expect(await failureCode(replaceFile(workspace, "dir/planted", Buffer.from("x"), absent))).toBe(
      "tool.changed",
    );
    expect(await fixture.listing(fixture.path("dir"))).toEqual({
      planted: "(no file)",
      "secret.txt": "newer\n",
    });
    expect(await readFile(join(fixture.outside, "secret.txt"), "utf8")).toBe("secret\n");
  });

  it("stays in the directory it has opened, also when that is replaced meanwhile", async () => {
    const workspace = await Workspace.open(fixture.directory);
    const directory = await PinnedDirectory.open(workspace, "dir", { create: false });
    try {
      await swapDirectory();
      await writeFile(directory.path("written"), "x");
      expect(await fixture.text("moved/written")).toBe("x");
      expect(await fixture.listing(fixture.outside)).toEqual({ "secret.txt": "secret\n" });
    } finally {
      await directory.close();
    }
  });
});
