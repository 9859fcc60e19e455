import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The paths of coding agents of other vendors, by the ids of their hosts; empty where they are not installed. */
    readonly agentHosts: Readonly<Record<string, string>>;
  }
}

/** Claude Code's package has its program in one of its own for each system. */
const claudePackage = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

/**
 * From npm, without their install scripts, which they do not need. Codex and Gemini CLI are under the Apache License 2.0; the licence of Copilot CLI
 * permits to install and run it, and it needs no account with a model provider of its user's own; Claude Code is under Anthropic's own terms, which
 * its LICENSE.md names. `program` is below `node_modules`.
 */
const pinned = [
  { id: "claude-code", name: claudePackage, version: "2.1.332", program: join(claudePackage, "claude") },
  { id: "codex", name: "@openai/codex", version: "0.171.0", program: ".bin/codex" },
  { id: "gemini-cli", name: "@google/gemini-cli", version: "0.61.0", program: ".bin/gemini" },
  { id: "copilot-cli", name: "@github/copilot", version: "1.0.102", program: ".bin/copilot" },
] as const;

type Pinned = (typeof pinned)[number];

const cacheDirectory = (): string => {
  const { XDG_CACHE_HOME: cache = "" } = process.env;
  return join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), "harnesskit", "agent-hosts");
};

/** Installs a package into a directory of its own, at once or not at all. */
const install = async ({ name, version }: Pinned, directory: string, cache: string): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, "install-"));
  try {
    await writeFile(join(temporary, "package.json"), "{}\n");
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    const args = ["install", ...flags, `${name}@${version}`];
    await promisify(execFile)("npm", args, { cwd: temporary, timeout: 300_000 });
    await rename(temporary, directory);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another run may have been quicker.
    if (!existsSync(directory)) throw error;
  }
};

const isSet = (value: string | undefined): boolean => !["", "0", "false", undefined].includes(value);

/**
 * Finds the coding agents that tests run, once for all files; they are half a gigabyte, so they are installed only where `CI` or
 * `HARNESS_TEST_HOSTS` is set, into a cache outside of this repository.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const cache = cacheDirectory();
  const mayInstall = isSet(process.env.CI) || isSet(process.env.HARNESS_TEST_HOSTS);
  const found: Record<string, string> = {};
  for (const host of pinned) {
    const directory = join(cache, `${host.id}-${host.version}`);
    if (!existsSync(directory) && mayInstall) await install(host, directory, cache);
    const program = join(directory, "node_modules", host.program);
    if (existsSync(program)) found[host.id] = program;
  }
  project.provide("agentHosts", found);
}
