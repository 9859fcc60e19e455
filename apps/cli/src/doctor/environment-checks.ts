import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { languageModelCommand } from "../language-model-hint.ts";
import { oneLine } from "../terminal/one-line.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

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

/** Looks for the ripgrep of the search tools, which `find` gives the path of. */
export const checkRipgrep = async (find: () => Promise<string>): Promise<Finding> => {
  try {
    const path = await find();
    await access(path, constants.X_OK);
    return ok("ripgrep", oneLine(path));
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
