import { randomBytes } from "node:crypto";
import { lstat } from "node:fs/promises";
import { createFileAtomic, ifPresent, privatePathProblem, readOwnFile } from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";

const maxTokenBytes = 4096;
const token = /^[\x21-\x7e]{16,}$/;

const unusable = (path: string, why: string): HarnessError =>
  new HarnessError("insecure_token_file", `${displayText(path, { maxLength: 300 })} ${why}`);

const readToken = async (path: string): Promise<string> => {
  const problem = privatePathProblem(await lstat(path), { kind: "file", othersMay: "nothing" });
  if (problem !== undefined) throw unusable(path, problem);
  const text = (await readOwnFile(path, { maxBytes: maxTokenBytes })).toString("utf8").trim();
  if (!token.test(text)) throw unusable(path, "holds no token: remove it, and another one is made");
  return text;
};

/**
 * The token of a hub: that of its file, or a new one of 256 bits, which is written there with mode 0600. It stays, so that pages and
 * agents find the hub again after a restart. Rejects with `insecure_token_file` for a file that others can read.
 */
export const openToken = async (path: string): Promise<string> => {
  const found = await ifPresent(readToken(path));
  if (found !== undefined) return found;
  await createFileAtomic(path, `${randomBytes(32).toString("base64url")}\n`);
  const made = await ifPresent(readToken(path));
  if (made === undefined) throw unusable(path, "cannot be read after it was written");
  return made;
};
