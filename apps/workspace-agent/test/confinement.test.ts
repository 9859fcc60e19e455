import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@harnesskit/agent-sdk";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { Workspace } from "../src/workspace.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.create();
  await fixture.put("file.txt", "inside\n");
  await fixture.put("dir/nested.txt", "inside\n");
  await mkdir(join(fixture.base, "workspace-twin"));
  await writeFile(join(fixture.base, "workspace-twin", "x"), "secret\n");
  await fixture.link("out", fixture.outside);
  await fixture.link("out-file", join(fixture.outside, "secret.txt"));
  await fixture.link("dir/up", "../..");
  await fixture.link("dir/in", "..");
  await fixture.link("dangling-out", join(fixture.outside, "new.txt"));
  await fixture.link("dangling-in", "nothing");
  await fixture.link("loop", "loop");
  await fixture.link("chain", "out");
  await fixture.link("root", "/");
});
afterAll(() => fixture[Symbol.asyncDispose]());

const outside = [
  "..",
  "../",
  "../outside/secret.txt",
  "../workspace-twin/x",
  "dir/../../outside/secret.txt",
  "out",
  "out/secret.txt",
  "out/new/file.txt",
  "out-file",
  "chain/secret.txt",
  "dir/up/outside/secret.txt",
  "dir/in/dir/in/out/secret.txt",
  "dangling-out",
  "root/etc/passwd",
  "/etc/passwd",
  "/",
  "/proc/self/root/etc/passwd",
  "./././../outside",
];

it("a directory whose names above it would be lost is refused in .git and .harness, also over a link", async () => {
  await fixture.put(".git/config", "url = https://user:needle@example.com\n");
  await fixture.put("sub/.Harness/x", "");
  await fixture.link("innocent", ".git");
  for (const directory of [".git", "sub/.Harness", "innocent"])
    for (const [name, input] of [
      ["grep", { pattern: "needle" }],
      ["write", { path: "config", content: "" }],
    ] as const)
      expect(await failure(fixture.prepare(name, input, fixture.path(directory)))).toMatchObject({
        code: "tool.protected_path",
        message: expect.stringMatching(/^the workspace directory is in \.(git|harness)/),
      });
});

describe("confinement", () => {
  it.each(outside)("refuses %j to every tool", async (path) => {
    const inputs = {
      read: { path },
      write: { path, content: "x" },
      edit: { path, oldText: "secret", newText: "x" },
      glob: { pattern: "*", path },
      grep: { pattern: "secret", path },
    } as const;
    for (const [name, input] of Object.entries(inputs)) {
      const error = await failure(fixture.prepare(name as keyof typeof inputs, input));
      expect(error.code).toBe("tool.outside_workspace");
      expect(error.message).not.toContain("secret\n");
    }
  });

  it("refuses absolute paths to neighbours and takes those inside", async () => {
    for (const path of [
      fixture.base,
      fixture.outside,
      `${fixture.directory}-twin/x`,
      `${fixture.directory}/../outside`,
    ])
      expect(await failureCode(fixture.prepare("read", { path }))).toBe("tool.outside_workspace");
    expect((await fixture.prepare("read", { path: fixture.path("file.txt") })).input).toEqual({
      path: "file.txt",
    });
  });

  it.each([
    ["loop", "tool.not_a_file"],
    ["loop/x", "tool.not_a_file"],
    ["dangling-in", "tool.not_a_file"],
  ])("refuses the link %j, which leads to nothing", async (path, code) => {
    expect(await failureCode(fixture.prepare("write", { path, content: "x" }))).toBe(code);
  });

  it("gives every spelling of a path the same input", async () => {
    const spellings = [
      "dir/nested.txt",
      "./dir/nested.txt",
      "dir//nested.txt",
      "dir/./nested.txt",
      "dir/../dir/nested.txt",
      "dir/nested.txt/",
      "missing/../dir/nested.txt",
      "dir/in/dir/nested.txt",
      fixture.path("dir/nested.txt"),
      `${fixture.directory}/../workspace/dir/nested.txt`,
    ];
    for (const path of spellings)
      expect((await fixture.prepare("read", { path, offset: 1 })).input).toEqual({ path: "dir/nested.txt" });
  });

  it("works in a workspace that is itself reached over a link", async () => {
    const alias = join(fixture.base, "alias");
    await symlink(fixture.directory, alias);
    for (const path of ["file.txt", join(alias, "file.txt"), fixture.path("file.txt")]) {
      const prepared = await fixture.prepare("read", { path }, alias);
      expect(prepared.input).toEqual({ path: "file.txt" });
      expect(await run(prepared)).toMatchObject({ text: "inside\n" });
    }
  });

  it("refuses a workspace that is missing or a file, without naming it", async () => {
    for (const directory of [join(fixture.base, "none"), fixture.path("file.txt")]) {
      const error = await failure(fixture.prepare("read", { path: "x" }, directory));
      expect(error.code).toBe("tool.failed");
      expect(error.message).not.toContain(fixture.base);
    }
  });

  const segments = [
    ...[
      "..",
      ".",
      "",
      "dir",
      "in",
      "up",
      "out",
      "out-file",
      "chain",
      "root",
      "loop",
      "dangling-out",
      "dangling-in",
    ],
    ...[
      "file.txt",
      "secret.txt",
      "outside",
      "workspace",
      "workspace-twin",
      "etc",
      "passwd",
      "proc",
      "self",
      "new",
    ],
    ...[
      "~",
      "%2e%2e",
      "..\\..",
      "\u2024\u2024",
      "\uff0e\uff0e",
      "...",
      " ",
      "\0",
      "C:",
      "\n",
      "a".repeat(300),
    ],
  ];
  const hostilePaths = fc.oneof(
    fc
      .tuple(fc.constantFrom("", "/", "./", "//"), fc.array(fc.constantFrom(...segments), { maxLength: 8 }))
      .map(([start, parts]) => start + parts.join("/")),
    fc
      .array(fc.constantFrom(...segments), { maxLength: 5 })
      .map((parts) => `${fixture.directory}/${parts.join("/")}`),
    fc.string({ unit: "binary", maxLength: 40 }),
  );

  it("reads and writes nothing outside, whatever the path", async () => {
    const outsideBefore = await fixture.listing(fixture.outside);
    const twinBefore = await fixture.listing(`${fixture.directory}-twin`);
    await fc.assert(
      fc.asyncProperty(hostilePaths, async (path) => {
        for (const [name, input] of [
          ["read", { path }],
          ["grep", { pattern: "secret|root:", path }],
          ["write", { path, content: "inside\n" }],
          ["edit", { path, oldText: "secret", newText: "x" }],
        ] as const) {
          const outcome = await fixture.call(name, input).catch((error: unknown) => {
            expect(ToolError.isInstance(error), String(error)).toBe(true);
            return (error as ToolError).message;
          });
          const text = JSON.stringify(outcome);
          expect(text).not.toMatch(/secret\\n|root:/);
        }
        expect(await readFile(join(fixture.outside, "secret.txt"), "utf8")).toBe("secret\n");
      }),
      { numRuns: runs(40) },
    );
    expect(await fixture.listing(fixture.outside)).toEqual(outsideBefore);
    expect(await fixture.listing(`${fixture.directory}-twin`)).toEqual(twinBefore);
    expect(
      Object.keys(await fixture.listing(fixture.base))
        .filter((path) => !path.includes("/"))
        .sort(),
    ).toEqual(["alias", "outside", "workspace", "workspace-twin"]);
  });

  it("resolves to a canonical path that resolves to itself, or refuses with a typed error", async () => {
    const workspace = await Workspace.open(fixture.directory);
    await fc.assert(
      fc.asyncProperty(hostilePaths, async (path) => {
        const resolved = await workspace.resolve(path).catch((error: unknown) => {
          expect(ToolError.isInstance(error), String(error)).toBe(true);
          return undefined;
        });
        if (resolved === undefined) return;
        expect(resolved.startsWith("/")).toBe(false);
        expect(resolved.split("/")).not.toContain("..");
        expect(await workspace.resolve(resolved)).toBe(resolved);
        expect(await workspace.verify(resolved)).toBe(workspace.absolute(resolved));
      }),
      { numRuns: runs(100) },
    );
  });
});
