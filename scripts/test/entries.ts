import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** The sources of all entries of the packages that are published. */
export const entries = (): string[] => {
  const folders = [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "conformance"];
  return folders.flatMap((folder) => {
    const manifest = join(root, folder, "package.json");
    if (!existsSync(manifest)) return [];
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports: Record<string, unknown> };
    return Object.values(exports)
      .map((target) => (target as Partial<Record<string, string>>)["@harnesskit/source"])
      .filter((source) => source?.endsWith(".ts"))
      .map((source) => join(root, folder, String(source)));
  });
};
