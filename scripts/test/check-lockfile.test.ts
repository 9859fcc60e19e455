import { describe, expect, it } from "vitest";
import { node, project } from "./support.ts";

const tool = {
  name: "tool",
  version: "1.0.0",
  optionalDependencies: { "@tool/linux": "1.0.0", "@tool/win": "1.0.0", "@tool/any": "^1.0.0" },
};
const lock = (...packages: string[]) =>
  `lockfileVersion: '9.0'\npackages:\n${packages.map((key) => `  '${key}':\n    resolution: {}\n`).join("")}`;
const check = async (text: string) => {
  const dir = await project({
    "node_modules/.pnpm/tool@1.0.0/node_modules/tool/package.json": tool,
    "node_modules/.pnpm/other@1.0.0/node_modules/@scope/other/package.json": { name: "@scope/other" },
    "pnpm-lock.yaml": text,
  });
  return node(["scripts/check-lockfile.mjs", "--root", dir]);
};

describe("the lockfile check", () => {
  it("passes a lock file that holds every platform package", async () => {
    const { code, output } = await check(
      lock("tool@1.0.0", "@tool/linux@1.0.0", "@tool/win@1.0.0", "@tool/any@1.2.0"),
    );
    expect(output).toBe("lockfile: ok (3 optional dependencies of 1 packages)\n");
    expect(code).toBe(0);
  });

  it("names the platform packages that are missing or of another version", async () => {
    const { code, output } = await check(lock("tool@1.0.0", "@tool/linux@1.0.1"));
    expect(output.split("\n").slice(0, 3)).toEqual([
      "pnpm-lock.yaml lacks @tool/linux@1.0.0, which tool@1.0.0 lists",
      "pnpm-lock.yaml lacks @tool/win@1.0.0, which tool@1.0.0 lists",
      "pnpm-lock.yaml lacks @tool/any@^1.0.0, which tool@1.0.0 lists",
    ]);
    expect(code).toBe(1);
  });
});
