import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { type Finding, ok, problem } from "./finding.ts";

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );

/** What keeps the policy from writing its log: without one it does not start, and nothing is judged. */
const auditProblem = async (harness: string): Promise<Finding | undefined> => {
  const directory = join(harness, "audit");
  for (const path of [directory, join(directory, "policy.jsonl"), join(directory, "policy.state.jsonl")]) {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined || (path === directory ? found.isDirectory() : found.isFile())) continue;
    const word = oneLine(shellWord(path), 1000);
    const kind = path === directory ? "directory" : "ordinary file";
    return problem(
      "directory",
      `${oneLine(path, 1000)} is no ${kind}, so that the policy cannot start`,
      `Move it away: mv ${word} ${word}.old`,
    );
  }
  return undefined;
};

/** Whether threads can be kept: `.harness` is a directory of ours that nobody else can read, or can be made. */
export const checkDirectory = async (workspace: string, harness: string): Promise<Finding> => {
  const found = await lstat(harness).catch(() => undefined);
  const shown = oneLine(harness, 1000);
  const word = oneLine(shellWord(harness), 1000);
  if (found === undefined) {
    return (await isWritable(workspace))
      ? ok("directory", `${shown} does not exist yet and can be made`)
      : problem(
          "directory",
          `${shown} cannot be made`,
          `Make ${oneLine(workspace, 1000)} writable, or use --cwd`,
        );
  }
  if (found.isSymbolicLink()) {
    return problem(
      "directory",
      `${shown} is a symbolic link, which no command follows`,
      `Remove it: rm ${word}`,
    );
  }
  if (!found.isDirectory()) {
    return problem("directory", `${shown} is no directory`, `Move it away: mv ${word} ${word}.old`);
  }
  if (!(await isWritable(harness))) {
    return problem("directory", `${shown} is not writable`, `Make it yours: chmod u+rwx ${word}`);
  }
  const mode = found.mode & 0o777;
  const shownMode = `mode 0${mode.toString(8)}`;
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    return problem("directory", `${shown} is open to others (${shownMode})`, `Close it: chmod 700 ${word}`);
  }
  return (await auditProblem(harness)) ?? ok("directory", `${shown} is writable, ${shownMode}`);
};
