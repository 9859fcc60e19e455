import { lstat } from "node:fs/promises";
import { ifPresent, privatePathProblem, readOwnFile } from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";

export type PrivateFileCode = "insecure_token_file" | "insecure_device_file";

/** The error of a file of the hub's directory that cannot be used as it is. */
export const unusableFile = (code: PrivateFileCode, path: string, why: string): HarnessError =>
  new HarnessError(code, `${displayText(path, { maxLength: 300 })} ${why}`);

/** The text of a file that only this user can read; undefined if there is none. Rejects with the code for one that others can read. */
export const readPrivateFile = (
  path: string,
  maxBytes: number,
  code: PrivateFileCode,
): Promise<string | undefined> =>
  ifPresent(
    (async () => {
      const problem = privatePathProblem(await lstat(path), { kind: "file", othersMay: "nothing" });
      if (problem !== undefined) throw unusableFile(code, path, problem);
      return (await readOwnFile(path, { maxBytes })).toString("utf8");
    })(),
  );
