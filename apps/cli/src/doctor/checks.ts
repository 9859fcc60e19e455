import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { privatePathProblem } from "@harnesskit/node-kit";
import { shellWord } from "@harnesskit/wire";
import { languageModelCommand } from "../serve/models.ts";
import { checkWritable, harnessDirectory } from "../workspace-directory.ts";

/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "note" | "problem";
  readonly text: string;
  readonly fix?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, status: "ok", text });
export const note = (check: string, text: string): Finding => ({ check, status: "note", text });
export const problem = (check: string, text: string, fix: string): Finding => ({
  check,
  status: "problem",
  text,
  fix,
});

const [minMajor, minMinor] = [20, 19] as const;
const keyNames = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"];

export const checkNode = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > minMajor || (major === minMajor && minor >= minMinor);
  const wanted = `${minMajor}.${minMinor}`;
  return isEnough
    ? ok("node", version)
    : problem("node", `${version} is too old`, `Install Node ${wanted} or later: https://nodejs.org`);
};

/** Looks for the ripgrep of the search tools, whose path `find` returns. */
export const checkRipgrep = async (find: () => Promise<string>): Promise<Finding> => {
  try {
    const path = await find();
    await access(path, constants.X_OK);
    return ok("ripgrep", path);
  } catch {
    const wanted = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return problem(
      "ripgrep",
      "not installed: the tools glob and grep do not work",
      `Install the optional dependency ${wanted}: npm install --include=optional`,
    );
  }
};

/** Whether a language model can be used: the names of the keys that are set. No value is looked at beyond that. */
export const checkKeys = (env: NodeJS.ProcessEnv): Finding => {
  const present = keyNames.filter((name) => (env[name] ?? "").trim() !== "");
  return present.length === 0
    ? {
        ...note("model", `no language model is configured: none of ${keyNames.join(", ")} is set`),
        fix: `Set the key of yours, for example: ${languageModelCommand()}. Until then the offline planner works`,
      }
    : ok("model", `${present.join(", ")} ${present.length === 1 ? "is" : "are"} set`);
};

/** Whether the default policy of `harness serve` and `harness run` can be read. */
export const checkPolicy = async (): Promise<Finding> => {
  try {
    const { readShippedPolicy } = await import("../ahp/policy-file.ts");
    const { name, rules, file } = await readShippedPolicy();
    const text = `${name}, ${rules.length} rules: in force unless --policy, --ahp or --no-policy is given`;
    return ok("policy", `${text} (${file})`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem(
      "policy",
      `the policy that ships cannot be read: ${why}`,
      "Install the program anew; until then: --policy FILE",
    );
  }
};

/** Whether threads can be kept: `.harness` is a private directory, or can be created. */
export const checkDirectory = async (workspace: string): Promise<Finding> => {
  const harness = harnessDirectory(workspace);
  const found = await lstat(harness).catch(() => undefined);
  const word = shellWord(harness);
  const wrong = found && privatePathProblem(found, { kind: "directory", othersMay: "nothing" });
  if (wrong !== undefined)
    return problem(
      "directory",
      `${harness} ${wrong}`,
      `Close it: chmod 700 ${word}, or move it away: mv ${word} ${word}.old`,
    );
  try {
    await checkWritable(workspace);
  } catch (error) {
    return problem("directory", (error as Error).message, "Make it writable, or use --cwd");
  }
  return ok(
    "directory",
    found ? `${harness} is private and writable` : `${harness} does not exist yet and can be made`,
  );
};
