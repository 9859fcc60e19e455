import { chmod, link, lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import {
  isNameOfGoneProcess,
  isOwnedByUser,
  ownedName,
  privatePathProblem,
  thisProcess,
} from "../src/index.ts";

describe("privatePathProblem", () => {
  it("names what is wrong and what to do", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    await writeFile(at("file"), "", { mode: 0o600 });
    await symlink(at("file"), at("link"));
    await mkdir(at("open"));
    await chmod(at("open"), 0o755);
    const problem = async (
      name: string,
      kind: "file" | "directory",
      othersMay: "read" | "nothing" = "read",
    ) => privatePathProblem(await lstat(at(name)), { kind, othersMay });
    expect(await problem("link", "file")).toBe("is a symbolic link: use the real path");
    expect(await problem("open", "file")).toBe("is not a regular file: choose another path");
    expect(await problem("file", "directory")).toBe("is not a directory: choose another path");
    expect(await problem("open", "directory")).toBeUndefined();
    expect(await problem("open", "directory", "nothing")).toBe(
      "can be entered or written by other users (mode 0755): chmod it to 0700 if it is yours alone, or make a directory of your own",
    );
    await chmod(at("file"), 0o644);
    expect(await problem("file", "file")).toBeUndefined();
    expect(await problem("file", "file", "nothing")).toContain(
      "can be read or written by other users (mode 0644)",
    );
    await chmod(at("file"), 0o622);
    expect(await problem("file", "file")).toContain("can be written by other users (mode 0622)");
    await link(at("file"), at("second"));
    expect(await problem("second", "file")).toContain("a hard link");
    const other = {
      ...(await lstat(directory.path)),
      isSymbolicLink: () => false,
      isDirectory: () => true,
      uid: 2 ** 31,
    };
    expect(isOwnedByUser(other as never)).toBe(false);
    expect(privatePathProblem(other as never, { kind: "directory" })).toBe(
      "belongs to another user: make a directory of your own",
    );
  });

  it.each([0o1777, 0o777, 0o2775, 0o1775, 0o702])(
    "never says to close what others share: mode %o",
    async (mode) => {
      await using directory = await temporaryDirectory();
      await chmod(directory.path, mode);
      const problem = privatePathProblem(await lstat(directory.path), {
        kind: "directory",
        othersMay: "nothing",
      });
      expect(problem).toBe(
        `can be entered or written by other users (mode ${mode.toString(8).padStart(4, "0")}): make a directory of your own`,
      );
    },
  );
});

describe("ownedName", () => {
  it("tells the process, and whether it is gone", () => {
    const own = ownedName("hk-core", "abc123");
    expect(isNameOfGoneProcess("hk-core", own)).toBe(false);
    const gone = { ...thisProcess(), pid: 2 ** 22 + 1 };
    expect(isNameOfGoneProcess("hk-core", ownedName("hk-core", "abc123", gone))).toBe(true);
    expect(
      isNameOfGoneProcess("hk-core", ownedName("hk-core", "abc123", { ...gone, world: "00000000" })),
    ).toBe(false);
  });

  it.each(["hk-core", "-1", "-2-3", "-2-3-abc123/x"])("of another form tells nothing: %s", (rest) => {
    expect(isNameOfGoneProcess("hk-core", `hk-core-${thisProcess().world}-4194305${rest}`)).toBe(false);
  });
});
