import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownedName, type ProcessIdentity, thisProcess } from "@harnesskit/node-kit";
import { randomId } from "@harnesskit/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkedModule, until } from "../../../../test-kit/test-kit.ts";
import { makeCoreDirectory, sweepCores } from "../../src/launch/core-directory.ts";
import { isAlive, stateOf } from "./support/processes.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "hk-dir-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const leave = async (owner: ProcessIdentity, unique = "abcdef"): Promise<string> => {
  const path = join(base, ownedName("hk-core", unique, owner));
  await mkdir(path, { mode: 0o700 });
  return path;
};

/** A process id that was used and is free again. */
const freePid = async (): Promise<number> => {
  const child = spawn("/bin/true");
  await once(child, "exit");
  return child.pid ?? 0;
};

describe("a core's directory", () => {
  it("is fresh, private, and names its owner", async () => {
    const one = await makeCoreDirectory([base]);
    const other = await makeCoreDirectory([base]);
    expect(one.path).not.toBe(other.path);
    expect(statSync(one.path).mode & 0o777).toBe(0o700);
    expect(one.path.slice(base.length + 1, -6)).toBe(ownedName("hk-core", ""));
    await one.noteLaunch("lch_1");
    expect(await readdir(one.path)).toEqual(["launch-lch_1"]);
    await one.forgetLaunch("lch_1");
    await one.forgetLaunch("lch_1");
    expect(await readdir(one.path)).toEqual([]);
    await one.remove();
    expect(await readdir(base)).toEqual([other.path.slice(base.length + 1)]);
  });

  it.each(["its own", "a killed core's"])(
    "goes with %s socket, and leaves later modules alone",
    async (whose) => {
      const isOwn = whose === "its own";
      const own = await makeCoreDirectory([base]);
      const directory = isOwn ? own.path : await leave({ ...thisProcess(), pid: await freePid() });
      const server = createServer().listen(join(directory, "core"));
      await once(server, "listening");
      const load = await linkedModule(base);
      if (isOwn) await own.remove();
      else expect(await sweepCores([base])).toEqual([directory]);
      expect(load()).toBe("found");
      expect(existsSync(directory)).toBe(false);
      server.close();
    },
  );

  it("lies in the next place when the first is too long or cannot be used", async () => {
    const long = join(base, "x".repeat(80));
    await mkdir(long);
    const made = await makeCoreDirectory([long, join(base, "nothing"), base]);
    expect(made.path.startsWith(join(base, "hk-core-"))).toBe(true);
    expect(Buffer.byteLength(made.socketPath)).toBeLessThan(100);
    await expect(makeCoreDirectory([long])).rejects.toMatchObject({
      code: "transport_failed",
      message: expect.stringContaining("too long") as string,
    });
    await expect(makeCoreDirectory([join(base, "nothing")])).rejects.toMatchObject({
      code: "transport_failed",
      message: expect.stringContaining("ENOENT") as string,
    });
  });
});

describe("what killed cores left", () => {
  it("is swept when its owner is gone: its process id is free, or another process has it", async () => {
    const here = thisProcess();
    const dead = await leave({ ...here, pid: await freePid() });
    await writeFile(join(dead, "core"), "");
    const reused = await leave({ ...here, started: "1" });
    const own = await leave(here);
    expect((await sweepCores([base, join(base, "nothing")])).sort()).toEqual([dead, reused].sort());
    expect(await readdir(base)).toEqual([own.slice(base.length + 1)]);
  });

  it("stays when that cannot be proved", async () => {
    const pid = await freePid();
    const otherWorld = await leave({ ...thisProcess(), pid, world: "00000000" });
    const unknownStart = await leave({ ...thisProcess(), started: undefined });
    expect(await sweepCores([base])).toEqual([]);
    expect(existsSync(otherWorld) && existsSync(unknownStart)).toBe(true);
  });

  it("stays when other users can enter it, or it is a link", async () => {
    const dead = { ...thisProcess(), pid: await freePid() };
    const open = await leave(dead, "aaaaaa");
    await rm(open, { recursive: true });
    await mkdir(open);
    const target = join(base, "target");
    await mkdir(target, { mode: 0o700 });
    await writeFile(join(target, "precious"), "");
    await symlink(target, join(base, ownedName("hk-core", "bbbbbb", dead)));
    await mkdir(join(base, "hk-core-something-else"), { mode: 0o700 });
    expect(await sweepCores([base])).toEqual([]);
    expect((await readdir(base)).length).toBe(4);
    expect(existsSync(join(target, "precious"))).toBe(true);
  });

  it("includes processes of its launches, and no others", async () => {
    const launchId = randomId("lch");
    const env = (id: string) => ({ HARNESS_LAUNCH_ID: id });
    const options = { stdio: "ignore", detached: true } as const;
    const orphan = spawn("/bin/sleep", ["1000"], { ...options, env: env(launchId) });
    const stranger = spawn("/bin/sleep", ["1000"], { ...options, env: env(`${launchId}0`) });
    try {
      const dead = await leave({ ...thisProcess(), pid: await freePid() });
      await writeFile(join(dead, `launch-${launchId}`), "");
      await writeFile(join(dead, "launch-"), "");
      await sweepCores([base]);
      await until(() => !isAlive(orphan.pid ?? 0), "the orphan is gone");
      expect(stateOf(stranger.pid ?? 0)).toMatch(/^[RS]$/);
      expect(existsSync(dead)).toBe(false);
    } finally {
      orphan.kill("SIGKILL");
      stranger.kill("SIGKILL");
    }
  });
});
