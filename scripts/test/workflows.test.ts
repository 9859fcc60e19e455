import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "./support.ts";

interface Workflow {
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, { readonly steps: readonly { readonly uses?: string }[] }>;
}

const folder = join(root, ".github/workflows");

describe.each(readdirSync(folder))("the workflow %s", (name) => {
  const text = readFileSync(join(folder, name), "utf8");
  const { permissions, jobs }: Workflow = parse(text);

  it("may only read, except where a job says more", () => {
    expect(permissions).toEqual({ contents: "read" });
  });

  it("names each action by a commit", () => {
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it("has no secret but the forge's own token", () => {
    const secrets = [...text.matchAll(/secrets\.(\w+)/g)].map(([, secret]) => secret);
    expect(secrets.filter((secret) => secret !== "GITHUB_TOKEN")).toEqual([]);
  });
});
