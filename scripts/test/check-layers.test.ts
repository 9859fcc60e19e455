import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { node, project, writeProject } from "./support.ts";

type Files = Record<string, string | object>;

const entry = (short: string, more: object = {}) => ({
  name: `@harnesskit/${short}`,
  publishConfig: { exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } } },
  ...more,
});

const good: Files = {
  "packages/wire/package.json": entry("wire", { dependencies: { "@harnesskit/protocol": "workspace:^" } }),
  "packages/wire/src/index.ts": 'export { a } from "./a.ts";\n',
  "packages/wire/src/a.ts":
    'import { b } from "@harnesskit/protocol/envelope";\n// import "node:fs" is only talk\nexport const a = `import "node:fs"` + b;\n',
  "packages/wire/dist/index.js": 'export { a } from "./chunk-1.js";\n',
  "packages/wire/dist/chunk-1.js":
    'import { b } from "@harnesskit/protocol/envelope";\nexport const a = b;\n',
  "packages/transport-stdio/package.json": entry("transport-stdio"),
  "packages/transport-stdio/src/index.ts":
    'import { spawn } from "node:child_process";\nimport { a } from "@harnesskit/wire";\nexport const c = [spawn, a];\n',
  "packages/transport-stdio/test/a.test.ts":
    'import { c } from "../src/index.ts";\nimport { a } from "@harnesskit/wire/testing";\nc.push(a);\n',
  "apps/cli/package.json": entry("cli", { dependencies: { "@harnesskit/transport-stdio": "workspace:^" } }),
  "apps/cli/src/bin.ts": 'import { c } from "@harnesskit/transport-stdio";\nconsole.log(c);\n',
};

const check = (dir: string) => node(["scripts/check-layers.mjs", "--root", dir]);

const broken: [name: string, path: string, content: string, finding: string][] = [
  [
    "an import that goes up",
    "packages/wire/src/bad-0.ts",
    'import { c } from "@harnesskit/transport-stdio";\nexport const a = c;\n',
    "packages/wire/src/bad-0.ts:1: imports @harnesskit/transport-stdio, which layer 1 `wire` may not",
  ],
  [
    "an entry that is not the permitted one",
    "packages/wire/src/bad-1.ts",
    'export { b as a } from "@harnesskit/protocol/threads";\n',
    "packages/wire/src/bad-1.ts:1: imports @harnesskit/protocol/threads, which layer 1 `wire` may not",
  ],
  [
    "an import() that goes up",
    "packages/wire/src/bad-2.ts",
    '\nexport const a = () => import("@harnesskit/transport-stdio");\n',
    "packages/wire/src/bad-2.ts:2: imports @harnesskit/transport-stdio",
  ],
  [
    "a type import that goes up",
    "packages/wire/src/bad-3.ts",
    'export type A = import("@harnesskit/transport-stdio").C;\n',
    "packages/wire/src/bad-3.ts:1: imports @harnesskit/transport-stdio",
  ],
  [
    "an import of Node in wire",
    "packages/wire/src/bad-4.ts",
    'import "node:fs";\nexport const a = 1;\n',
    "packages/wire/src/bad-4.ts:1: imports node:fs, but `wire` runs in browsers",
  ],
  [
    "a bare builtin",
    "packages/transport-stdio/src/bad-5.ts",
    'import "fs/promises";\n',
    "packages/transport-stdio/src/bad-5.ts:1: imports fs/promises without `node:`",
  ],
  [
    "a foreign package in wire",
    "packages/wire/src/bad-6.ts",
    'import "left-pad";\nexport const a = 1;\n',
    "packages/wire/src/bad-6.ts:1: imports left-pad; `wire` may import: @opentelemetry/api",
  ],
  [
    "a sibling's sources by name",
    "apps/cli/src/bad-7.ts",
    'import "@harnesskit/wire/src/a.ts";\n',
    "apps/cli/src/bad-7.ts:1: reaches into @harnesskit/wire/src/a.ts",
  ],
  [
    "a sibling's sources by path",
    "packages/transport-stdio/src/bad-8.ts",
    'export { a } from "../../wire/src/index.ts";\n',
    "packages/transport-stdio/src/bad-8.ts:1: leaves its package's src: ../../wire/src/index.ts",
  ],
  [
    "a sibling's sources in a test",
    "packages/transport-stdio/test/bad-9.test.ts",
    'import "../../wire/src/index.ts";\n',
    "packages/transport-stdio/test/bad-9.test.ts:1: reaches into ../../wire/src/index.ts",
  ],
  [
    "Node in a chunk of a browser entry",
    "packages/wire/dist/chunk-1.js",
    'import { readFileSync } from "fs";\nexport const a = readFileSync;\n',
    "packages/wire/dist/chunk-1.js imports fs, but it is for browsers too",
  ],
  [
    "a suppressed check",
    "packages/wire/src/bad-16.ts",
    `// ${"@ts"}-expect-error\nexport const a = 1;\n`,
    "packages/wire/src/bad-16.ts: suppresses a check",
  ],
  [
    "a long file",
    "packages/wire/src/bad-17.ts",
    `export const a = 1;\n${"//\n".repeat(300)}`,
    "packages/wire/src/bad-17.ts: 301 lines; split it into files of at most 300",
  ],
];

describe("the layers check", () => {
  it("passes a workspace whose imports go down only", async () => {
    const { code, output } = await check(await project(good));
    expect(output).toBe("layers: ok (4 source files)\n");
    expect(code).toBe(0);
  });

  describe("of a workspace that is broken everywhere", () => {
    let dir = "";
    let result: Awaited<ReturnType<typeof check>>;
    beforeAll(async () => {
      dir = await writeProject({
        ...good,
        ...Object.fromEntries(broken.map(([, path, content]) => [path, content])),
      });
      result = await check(dir);
    });
    afterAll(() => rm(dir, { recursive: true, force: true }));

    it.each(broken)("fails on %s", (_name, _path, _content, finding) => {
      expect(result.output.split("\n")).toContainEqual(expect.stringContaining(finding));
    });

    it("finds nothing else", () => {
      expect(result.output).toContain(`layers: ${broken.length} findings (`);
      expect(result.code).toBe(1);
    });
  });

  it("fails on a forbidden dependency, an unknown package and a missing build", async () => {
    const dir = await project({
      ...good,
      "packages/wire/package.json": entry("wire", {
        dependencies: { "@harnesskit/models": "workspace:^", "left-pad": "1.0.0" },
        publishConfig: { exports: { ".": { default: "./dist/gone.js" } } },
      }),
      "packages/novel/package.json": entry("novel"),
    });
    const { code, output } = await check(dir);
    expect(output).toContain(
      "packages/wire/package.json: depends on @harnesskit/models, which layer 1 may not",
    );
    expect(output).toContain("packages/wire/package.json: depends on left-pad");
    expect(output).toContain("packages/wire/dist/gone.js is not built");
    expect(output).toContain("packages/novel: has no row in scripts/lib/layers-table.mjs");
    expect(code).toBe(1);
  });
});
