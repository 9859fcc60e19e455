import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readManifest } from "../../src/launch/read-manifest.ts";

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "hk-manifest-"));
  path = join(directory, "opensentience.agent.json");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const valid = { id: "org.example.agent", version: "1.0.0", command: ["node", "agent.mjs"] };
const refusal = (code: string, about: object = {}) => ({ name: "ManifestError", code, path, ...about });

describe("a manifest", () => {
  it("is read with the hash of its bytes", async () => {
    const text = JSON.stringify({ ...valid, restart: { policy: "always" }, unknown: 1 }, null, 2);
    await writeFile(path, text);
    const read = await readManifest(directory);
    expect(read).toEqual({
      directory,
      manifest: { ...valid, restart: { policy: "always" } },
      hash: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    });
  });

  it("must exist", async () => {
    await expect(readManifest(directory)).rejects.toMatchObject(refusal("manifest_not_found"));
    path = join(directory, "nothing", "opensentience.agent.json");
    await expect(readManifest(join(directory, "nothing"))).rejects.toMatchObject(
      refusal("manifest_not_found"),
    );
    await expect(readManifest("a\0b")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("is a regular file: no link, no directory, no pipe at which one would wait", async () => {
    const elsewhere = join(directory, "elsewhere.json");
    await writeFile(elsewhere, JSON.stringify(valid));
    await symlink(elsewhere, path);
    await expect(readManifest(directory)).rejects.toMatchObject(refusal("manifest_unsafe"));
    await rm(path);
    await mkdir(path);
    await expect(readManifest(directory)).rejects.toMatchObject(refusal("manifest_unsafe"));
    await rm(path, { recursive: true });
    execFileSync("mkfifo", [path]);
    await expect(readManifest(directory)).rejects.toMatchObject(refusal("manifest_unsafe"));
  });

  it("is bounded", async () => {
    const text = JSON.stringify(valid).padEnd(262_144);
    await writeFile(path, text);
    expect((await readManifest(directory)).manifest).toEqual(valid);
    await writeFile(path, `${text} `);
    await expect(readManifest(directory)).rejects.toMatchObject(refusal("manifest_too_large"));
  });

  it.each([
    ["not UTF-8", Buffer.from([0x22, 0xff, 0x22]), undefined],
    ["no object", "[]", undefined],
    ["an id with a slash", JSON.stringify({ ...valid, id: "a/b" }), "id"],
    ["an empty command", JSON.stringify({ ...valid, command: [] }), "command.0"],
    ["a NUL in an argument", JSON.stringify({ ...valid, command: ["node", "a\0b"] }), "command.1"],
    ["a name of no variable", JSON.stringify({ ...valid, env: ["GOOD", "A=B"] }), "env.1"],
  ] as const)("with %s is refused with the field that is wrong", async (_, text, field) => {
    await writeFile(path, text);
    const failure: unknown = await readManifest(directory).catch((error: unknown) => error);
    expect(failure).toMatchObject(refusal("manifest_invalid", { field }));
    if (field !== undefined) expect((failure as Error).message).toContain(field);
  });
});
