import { randomBytes } from "node:crypto";
import { createFileAtomic } from "@harnesskit/node-kit";
import { readPrivateFile, unusableFile } from "./private-file.ts";

const maxTokenBytes = 4096;
const token = /^[\x21-\x7e]{16,}$/;

const readToken = async (path: string): Promise<string | undefined> => {
  const text = (await readPrivateFile(path, maxTokenBytes, "insecure_token_file"))?.trim();
  if (text !== undefined && !token.test(text)) {
    throw unusableFile("insecure_token_file", path, "holds no token: remove it, and another one is made");
  }
  return text;
};

/**
 * The token of a hub: that of its file, or a new one of 256 bits, which is written there with mode 0600. It stays, so that pages and
 * agents find the hub again after a restart. Rejects with `insecure_token_file` for a file that others can read.
 */
export const openToken = async (path: string): Promise<string> => {
  const found = await readToken(path);
  if (found !== undefined) return found;
  await createFileAtomic(path, `${randomBytes(32).toString("base64url")}\n`);
  const made = await readToken(path);
  if (made === undefined)
    throw unusableFile("insecure_token_file", path, "cannot be read after it was written");
  return made;
};
