import { execFile } from "node:child_process";
import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  createFileAtomic,
  makeDirectory,
  makeDirectorySync,
  syncDirectory,
  temporaryName,
  writeFileAtomic,
} from "../src/index.ts";

const run = promisify(execFile);
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "node-kit-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const makers = [
  ["makeDirectory", makeDirectory],
  ["makeDirectorySync", async (path: string) => makeDirectorySync(path)],
] as const;

it.each(makers)("%s makes what is missing, mode 0700, and leaves what is there", async (_, make) => {
  await make(join(dir, "a/b/c"));
  await make(join(dir, "a/b/c"));
  for (const path of ["a", "a/b", "a/b/c"]) expect((await lstat(join(dir, path))).mode & 0o777).toBe(0o700);
});

it.skipIf(process.platform !== "linux").each(makers)(
  "%s ends where the system refuses with ENOENT",
  async (_, make) => {
    await expect(make("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
  },
);

it.each(makers)("%s rejects below a file and below a FIFO", async (_, make) => {
  await writeFile(join(dir, "file"), "");
  await run("mkfifo", [join(dir, "fifo")]);
  await expect(make(join(dir, "file/x"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(make(join(dir, "fifo/x"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

it("syncDirectory does not wait at a FIFO", async () => {
  await run("mkfifo", [join(dir, "fifo")]);
  await expect(syncDirectory(join(dir, "fifo"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

it("writeFileAtomic replaces a link and a FIFO, and writes through neither", async () => {
  await writeFile(join(dir, "elsewhere"), "kept");
  await symlink(join(dir, "elsewhere"), join(dir, "link"));
  await run("mkfifo", [join(dir, "fifo")]);
  for (const name of ["link", "fifo", "new"]) {
    await writeFileAtomic(join(dir, name), "text");
    expect((await lstat(join(dir, name))).isFile()).toBe(true);
    expect(await readFile(join(dir, name), "utf8")).toBe("text");
  }
  expect(await readFile(join(dir, "elsewhere"), "utf8")).toBe("kept");
  expect((await readdir(dir)).filter((name) => temporaryName.test(name))).toEqual([]);
});

it("writeFileAtomic leaves nothing behind where it fails", async () => {
  await expect(writeFileAtomic(join(dir, "none/file"), "text")).rejects.toMatchObject({ code: "ENOENT" });
  await makeDirectory(join(dir, "directory"));
  await expect(writeFileAtomic(join(dir, "directory"), "text")).rejects.toMatchObject({ code: "EISDIR" });
  expect(await readdir(dir)).toEqual(["directory"]);
});

it("createFileAtomic makes a file once, however many try", async () => {
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, number) => createFileAtomic(join(dir, "file"), String(number))),
  );
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await readFile(join(dir, "file"), "utf8")).toBe(String(made.indexOf(true)));
  expect(await readdir(dir)).toEqual(["file"]);
});
