import { spawnSync } from "node:child_process";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { node, project, root } from "./support.ts";

const load = (file: string) => import(pathToFileURL(join(root, file)).href);
type Skip = { reason: string };
const { unacceptedSkips }: { unacceptedSkips(skips: Skip[], run: object): Skip[] } =
  await load("scripts/lib/skips.mjs");
const { makeBarePath }: { makeBarePath(dir: string): string } = await load("scripts/lib/bare-path.mjs");

describe("a skipped test", () => {
  const python = { reason: "this machine has no python3 of version 3.9 or newer" };
  const browser = { reason: "this machine has none of chromium, chromium-browser, google-chrome" };
  const owner = { reason: "only root can act as another user" };
  const other = { reason: "no reason given" };
  const skips = [python, browser, owner, other];

  it.each([
    ["with everything, as root", { isBare: false, isRoot: true }, skips],
    ["with everything, as another user", { isBare: false, isRoot: false }, [python, browser, other]],
    ["on a bare machine, as root", { isBare: true, isRoot: true }, [owner, other]],
    ["on a bare machine, as another user", { isBare: true, isRoot: false }, [other]],
  ])("is accepted only where the run hides what it needs: %s", (_, run, unaccepted) => {
    expect(unacceptedSkips(skips, run)).toEqual(unaccepted);
  });
});

describe("the path of a bare machine", () => {
  it("has Node, npm and what every system has, and no git, Python, browser or ripgrep", async () => {
    const PATH = makeBarePath(await realpath(await project({})));
    const names = await readdir(PATH);
    expect(names).toEqual(expect.arrayContaining(["node", "npm", "sh", "cat", "mkfifo"]));
    expect(names.filter((name) => /^(?:git|python|chrom|google|rg)/.test(name))).toEqual([]);
    for (const command of ["node --version", "npm --version", "cat /dev/null"]) {
      const { status } = spawnSync("sh", ["-c", command], { env: { PATH } });
      expect({ command, status }).toEqual({ command, status: 0 });
    }
  });
});

describe("npm test", () => {
  it("refuses files that do not exist", async () => {
    const { code, output } = await node([
      "scripts/test.mjs",
      "--only",
      "vitest",
      "--files",
      "apps/none,apps/cli",
    ]);
    expect({ code, output }).toEqual({
      code: 2,
      output: "--files takes files and folders of the repository; there is no apps/none.\n",
    });
  });
});
