import type { FileInput, Item } from "@harnesskit/protocol/threads";
import {
  type AttachmentLimits,
  type AttachmentScope,
  attachedText,
  type ReadAttachment,
  readAttachments,
  resolveAttachmentLimits,
} from "@harnesskit/wire";
import type { FilePart, TextPart } from "ai";
import { TurnError } from "../errors.ts";
import type { TurnContext } from "../turn-runner.ts";

/** How the files of a turn's input reach the model: the function that reads them, and the limits of one request to the model. */
export interface AttachmentOptions extends AttachmentLimits {
  /**
   * Returns the bytes of a file. `directory` is the thread's. It decides what may be read; what it throws as an `AttachmentError`
   * is shown to the user behind the file's name, anything else as "could not be read".
   */
  readonly read: (
    file: FileInput,
    scope: AttachmentScope & { readonly directory: string },
  ) => Uint8Array | Promise<Uint8Array>;
}

/** The part of a message for each file of an input. */
export type FileParts = ReadonlyMap<FileInput, TextPart | FilePart>;

const fileName = ({ path, uri }: FileInput): string => path ?? uri ?? "";

const attachedPart = ({ name, content, error }: ReadAttachment): TextPart | FilePart => {
  if (!content) return { type: "text", text: `[attached file: ${name} (not included: it ${error.message})]` };
  if (content.type === "text") return { type: "text", text: attachedText(name, content) };
  const { bytes: data, mediaType } = content;
  return { type: "file", data, mediaType, filename: name.slice(name.lastIndexOf("/") + 1) };
};

/** The turns in which the model has said or done something: their files were of a kind that it takes. */
const answeredTurns = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(
    items
      .filter(({ type }) => type === "assistant_message" || type === "tool_exec")
      .map(({ turnId }) => turnId),
  );

/**
 * Reads the files of the items: those of the running turn first, then those of earlier answered turns, the latest first, as far as
 * the limits allow. A file of the running turn that does not reach the model ends the turn with a `TurnError` that names it,
 * with the code of an `AttachmentError`; an earlier one is named to the model with the reason.
 */
export const readFiles = async (
  { turn, thread, signal }: Pick<TurnContext, "turn" | "thread" | "signal">,
  items: readonly Item[],
  { read, ...limits }: AttachmentOptions,
): Promise<FileParts> => {
  const answered = answeredTurns(items);
  const isOfTurn = (item: Item): boolean => item.turnId === turn.turnId;
  const filesOf = (item: Item): FileInput[] =>
    item.type === "user_message" ? (item.data?.content.filter((part) => part.type === "file") ?? []) : [];
  const own = items.filter(isOfTurn).flatMap(filesOf);
  const earlier = items.filter((item) => !isOfTurn(item) && answered.has(item.turnId)).reverse();
  const files = [...own, ...earlier.flatMap(filesOf)];
  const found = await readAttachments(
    files.map((file) => ({ name: fileName(file), mimeType: file.mimeType, source: file })),
    (file, scope) => read(file, { ...scope, directory: thread.directory }),
    resolveAttachmentLimits(limits),
    signal,
  );
  const failed = found.slice(0, own.length).filter(({ error }) => error !== undefined);
  const [first] = failed;
  if (first?.error) {
    const reasons = failed.map(({ name, error }) => `${name} ${error?.message}`).join("; ");
    throw new TurnError(first.error.code, `The model was not asked: ${reasons}.`, { cause: first.error });
  }
  return new Map(found.map((attachment, index) => [files[index] as FileInput, attachedPart(attachment)]));
};
