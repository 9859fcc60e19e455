import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isSecretFile } from "../src/secret-files.ts";

/** The patterns of a source file, by the names of their constants. */
const patternsOf = async (path: string): Promise<Record<string, string>> => {
  const text = await readFile(new URL(path, import.meta.url), "utf8");
  return Object.fromEntries(
    [...text.matchAll(/^const (names|folders) =\n {2}(\/.*\/);$/gm)].map(([, ...pair]) => pair),
  );
};

describe("files that hold secrets by their names", () => {
  it("are those that the policy for coding agents asks about", async () => {
    const own = await patternsOf("../src/secret-files.ts");
    expect(Object.keys(own)).toEqual(["names", "folders"]);
    expect(own).toEqual(await patternsOf("../../../packages/ahp-server/src/shell/secret-paths.ts"));
  });

  it.each([
    ".env",
    "a/.ENV.local",
    "prod.env",
    "id_rsa.bak",
    "/etc/shadow",
    ".ssh/config",
    "x/server.pem.old",
  ])("%s is one", (path) => expect(isSecretFile(path)).toBe(true));

  it.each([".env.example", "id_rsa.pub", "environment.ts", "README.md", "src/secret-files.ts"])(
    "%s is none",
    (path) => expect(isSecretFile(path)).toBe(false),
  );
});
