import { isRecord } from "./tool-outcome.ts";
import { parseJson } from "./tool-values.ts";

const managers = ["npm", "pnpm", "yarn", "bun"] as const;

/** A package manager of Node.js projects. */
export type PackageManager = (typeof managers)[number];

const lockFiles: readonly (readonly [string, PackageManager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** The manager that `packageManager` in the package.json names, else the one whose lock file is there, else npm. */
export function packageManager(names: ReadonlySet<string>, packageJson: string): PackageManager {
  const manifest = parseJson(packageJson.replace(/^\ufeff/, ""));
  const field = isRecord(manifest) ? manifest.packageManager : undefined;
  const named =
    typeof field === "string" ? managers.find((manager) => field.startsWith(`${manager}@`)) : undefined;
  return named ?? lockFiles.find(([file]) => names.has(file))?.[1] ?? "npm";
}
