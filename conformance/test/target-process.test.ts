import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test-kit/test-kit.ts";
import { startProcess } from "../src/target/target-process.ts";

/** Leaves a process in a session of its own, which keeps the standard streams open, and writes its pid to a file. */
const program = `
const { spawn } = require("node:child_process");
const left = spawn("sleep", ["600"], { detached: true, stdio: "inherit" });
left.unref();
require("node:fs").writeFileSync("pid.tmp", String(left.pid));
require("node:fs").renameSync("pid.tmp", "pid");
`;

it("does not wait for a process that has left the target's group and holds its output", async () => {
  await using folder = await temporaryDirectory();
  const place = { endpoint: "stdio:", token: "", directory: folder.path };
  const command = `cd '${folder.path}' && exec '${process.execPath}' -e '${program}'`;
  const target = startProcess(command, place, { stopTimeoutMs: 200, maxLogBytes: 1000 });
  const pid = await expect
    .poll(() => readFile(join(folder.path, "pid"), "utf8").catch(() => ""))
    .not.toBe("")
    .then(() => readFile(join(folder.path, "pid"), "utf8"))
    .then(Number);
  try {
    await target.stop();
    expect((await target.exited).exitCode).toBe(0);
    expect(process.kill(pid, 0)).toBe(true);
  } finally {
    process.kill(pid, "SIGKILL");
  }
});
