import type { JsonObject } from "@harnesskit/protocol/envelope";
import type {
  ApprovalDecision,
  ApprovalMetadata,
  Grant,
  GrantScope,
  InputPart,
  ItemData,
  ItemOf,
} from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import type { AnswerSeal } from "./thread-store.ts";

/** A client's answer. */
export interface ClientAnswer {
  readonly decision: ApprovalDecision;
  /** With `reject`: the client could ask no user. */
  readonly reason?: "unattended";
  /** With `reject`: the user's reason. */
  readonly note?: string;
  /** The client that gave it. */
  readonly resolvedBy: string;
  /** With `always`. */
  readonly scope?: GrantScope;
  /** With `always`. */
  readonly match?: Grant["match"];
  readonly clientRequestId?: string;
}

/** How an approval ended: with a client's answer, or for a reason of the server's. */
export type ApprovalAnswer =
  | ClientAnswer
  | {
      readonly decision?: never;
      readonly note?: never;
      readonly reason: "expired" | "unattended" | "changed";
      readonly resolvedBy: "server";
    };

export const isAllowed = ({ decision }: { readonly decision?: ApprovalDecision | undefined }): boolean =>
  decision === "once" || decision === "always";

/** What a human is asked about: a call, or a prompt. */
export interface AskedAction {
  readonly permission: string;
  readonly input: ApprovalMetadata["input"];
  readonly preview?: string | undefined;
  readonly digest: string;
  /** The call's item. */
  readonly toolItemId?: string;
}

/** What the approval of a prompt says as its permission. */
export const promptPermission = "prompt";

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

/** The item of a question. */
export interface QuestionItem {
  readonly itemId: string;
  readonly data: ItemData<"approval">;
  /** When clients were notified of it, in milliseconds since the epoch; undefined where they were not. */
  readonly askedAt: number | undefined;
  /** The answer that an earlier server recorded, where nothing has followed from it. */
  readonly answer?: ApprovalAnswer;
}

/** The item of a question with what it says. */
export type Approval = ItemOf<"approval"> & { readonly data: ItemData<"approval"> };

/** What a seal binds: the whole answer, and whose it is. */
const boundIn = ({ threadId, turnId, itemId, data: { seal: _seal, ...answer } }: Approval) => ({
  ...{ threadId, turnId, itemId, answer },
});

/** The answer as it is recorded: one that allows is sealed, where the store has a seal. */
export const sealedAnswer = async (
  approval: Approval,
  answerSeal: AnswerSeal | undefined,
): Promise<ItemData<"approval">> => {
  const { data } = approval;
  if (!answerSeal || !isAllowed(data)) return data;
  return { ...data, seal: await answerSeal.seal(boundIn(approval)) };
};

/** True for a recorded answer that needs no seal, or has the one of a server of this user. */
export const isSealed = async (approval: Approval, answerSeal: AnswerSeal | undefined): Promise<boolean> =>
  !answerSeal || !isAllowed(approval.data) || answerSeal.holds(boundIn(approval), approval.data.seal);
