import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
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

/** Looks for ripgrep as the search tool does: in absolute directories of the path. */
export const checkRipgrep = async (searchPath: string): Promise<Finding> => {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  for (const directory of searchPath.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return ok("ripgrep", oneLine(path));
  }
  return note("ripgrep", "not found: searches use the built-in way, which is slower");
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
