import { describe, expect, it } from "vitest";
import { isSecretFile } from "../src/secret-files.ts";

/** How editors, backups and people name a copy of a file. */
const copiesOf = (name: string): string[] => {
  const dotted = name.startsWith(".") ? name : `.${name}`;
  return [
    ...[`#${name}#`, `.#${name}`, `._${name}`, `${name}~`, `${name}.~2~`, `!home!me!${name}~`],
    ...[`${dotted}.swp`, `${dotted}.swo`, `.${name}.swp`, `.${name}.un~`, `.${name}.kate-swp`],
    ...["bak", "backup", "old", "orig", "save", "copy", "bak2", "dpkg-old", "rpmsave"].map(
      (suffix) => `${name}.${suffix}`,
    ),
    ...[`${name}.2026-11-23`, `${name}.20261123T101500Z`, `${name}-20261123`, `${name}_old`, `${name}.1`],
    ...[`${name} copy`, `${name} copy 2`, `${name} (1)`, `#${name}.bak#`, `${name}.bak~`],
  ];
};

describe("a file that holds secrets by its name", () => {
  it.each([
    ...[".env", "a/.ENV.local", "prod.env", "id_rsa.bak", "/etc/shadow", ".ssh/config", "x/server.pem.old"],
    ...[".git/config", "a/.git/config", ".git/config.worktree", ".git/modules/lib/config", ".GIT/CONFIG"],
  ])("is %s", (path) => expect(isSecretFile(path)).toBe(true));

  it.each([".env", "id_rsa", "server.pem", ".npmrc", "credentials.json", "prod.tfvars", ".git/config"])(
    "is every copy of %s by its name",
    (path) => {
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      const copies = copiesOf(path.slice(folder.length)).map((name) => folder + name);
      expect(copies.filter((copy) => !isSecretFile(copy))).toEqual([]);
      expect(copies.filter((copy) => !isSecretFile(`deep/${copy.toUpperCase()}`))).toEqual([]);
    },
  );

  it.each([
    ...[".env.example", ".env.sample", ".env.template", ".env.dist", "example.env", "a/.env.defaults"],
    ...["#.env.example#", ".#.env.sample", "id_rsa.pub", "environment.ts", "README.md", "README.md~"],
    ...["src/secret-files.ts", "config", "config.bak", ".github/config", ".git/HEAD", "notes.2026.md", "#1#"],
  ])("is not %s", (path) => expect(isSecretFile(path)).toBe(false));

  it("may be a copy of a copy many times over", () => {
    expect(isSecretFile(`.env${"~".repeat(100)}`)).toBe(true);
  });

  it("is recognised without backtracking, whatever the name is", () => {
    for (const part of [".", "#", "~", "_1", ".bak", ".sw", "%a", " copy", ".env", "-2026"])
      for (let count = 0; count < 1000; count++) isSecretFile(part.repeat(255 / part.length));
    expect(isSecretFile("a")).toBe(false);
  });
});
