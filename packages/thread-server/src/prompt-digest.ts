import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { InputPart } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { promptPermission } from "./approval-answer.ts";

/** A prompt as a string, as a human is shown it. */
export const promptText = (content: readonly InputPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** What a human is shown of a prompt: its text, and the files of its content. */
export const shownPrompt = (text: string, content: readonly InputPart[]) => {
  const files = content.filter((part) => part.type === "file");
  return files.length === 0 ? { text } : { text, files: files.map((part) => ({ ...part }) as JsonObject) };
};

/** What the approval of a prompt binds: what is shown, in the same way as a tool call. */
export const promptDigest = (text: string, content: readonly InputPart[]): Promise<string> =>
  digest({ tool: promptPermission, input: shownPrompt(text, content) });
