import type { InputPart } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";

/** The text that a human is shown of a prompt. */
export const promptText = (content: readonly InputPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** What the approval of a prompt binds: its text, and the files of its content. */
export const promptDigest = async (text: string, content: readonly InputPart[]): Promise<string> => {
  const files = content.filter((part) => part.type === "file");
  return digest({ prompt: text, files: files.map((part) => ({ ...part })) });
};
