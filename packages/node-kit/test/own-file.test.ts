import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { HarnessError } from "@harnesskit/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOwnFile, UnsafeFileError } from "../src/index.ts";

const run = promisify(execFile);
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "node-kit-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const maxBytes = 1000;
const failure = (reading: Promise<unknown>) =>
  reading.then(
    () => expect.fail("it was read"),
    (error: unknown) => error,
  );

describe("readOwnFile", () => {
  it.each([0, 1, 999, 1000])("reads a file of %i bytes whole", async (size) => {
    const bytes = Buffer.alloc(size, "x");
    await writeFile(join(dir, "file"), bytes);
    expect(await readOwnFile(join(dir, "file"), { maxBytes })).toEqual(bytes);
  });

  it.each([1001, 2 ** 40])("refuses a file of %i bytes before it reads", async (size) => {
    await writeFile(join(dir, "file"), "");
    await truncate(join(dir, "file"), size);
    const error = await failure(readOwnFile(join(dir, "file"), { maxBytes }));
    expect(UnsafeFileError.isInstance(error) && [error.code, error.reason]).toEqual([
      "unsafe_file",
      "too_large",
    ]);
    expect(HarnessError.isInstance(error)).toBe(true);
    expect(String(error)).toContain(`${join(dir, "file")} has more than 1000 bytes`);
  });

  it("reads no more than allowed of a file whose size the system does not say", async () => {
    const text = await readOwnFile("/proc/self/status", { maxBytes: 100_000 });
    expect(text.toString()).toContain("Name:");
    expect(await failure(readOwnFile("/proc/self/status", { maxBytes: 10 }))).toMatchObject({
      reason: "too_large",
    });
  });

  it("does not wait at a FIFO, and refuses devices, sockets and directories", async () => {
    await run("mkfifo", [join(dir, "fifo")]);
    await mkdir(join(dir, "directory"));
    const server = createServer().listen(join(dir, "socket"));
    for (const path of [
      join(dir, "fifo"),
      join(dir, "socket"),
      join(dir, "directory"),
      "/dev/zero",
      "/dev/tty0",
    ]) {
      const error = await failure(readOwnFile(path, { maxBytes }));
      if (path !== "/dev/tty0") expect(error).toMatchObject({ code: "unsafe_file", reason: "not_regular" });
      else expect((error as Error).message).not.toBe("it was read");
    }
    await new Promise((resolve) => server.close(resolve));
  });

  it("follows no link at the name, unless the user named the file", async () => {
    await writeFile(join(dir, "file"), "text");
    await symlink(join(dir, "file"), join(dir, "link"));
    await symlink("/dev/zero", join(dir, "zero"));
    expect(await failure(readOwnFile(join(dir, "link"), { maxBytes }))).toMatchObject({ reason: "link" });
    expect((await readOwnFile(join(dir, "link"), { maxBytes, followLinks: true })).toString()).toBe("text");
    const error = await failure(readOwnFile(join(dir, "zero"), { maxBytes, followLinks: true }));
    expect(error).toMatchObject({ reason: "not_regular" });
  });
});
