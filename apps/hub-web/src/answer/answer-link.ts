import type { ApprovalRecord } from "@harnesskit/approvals";
import { ApprovalRecordSchema } from "@harnesskit/approvals";
import { hubPaths } from "@harnesskit/protocol/hub";
import type { Answer } from "../state/inbox.ts";
import { postJson } from "../state/post-json.ts";

/** What the hub said: the approval, or why not, in a sentence. */
export type Said = { readonly record: ApprovalRecord } | { readonly problem: string };

/** Undefined where the hub does not answer. */
const postAnswer = async (path: string, body: object): Promise<Said | undefined> => {
  try {
    const response = await postJson(path.slice(1), body);
    if (!response.ok) return { problem: (await response.text()).trim() };
    return { record: ApprovalRecordSchema.parse(((await response.json()) as { record: unknown }).record) };
  } catch {
    return undefined;
  }
};

/** The approval of a link in a notice: its token is taken out of the address, and kept in this page only. */
export const openAnswerLink = () => {
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  return {
    view: () => postAnswer(hubPaths.answerView, { token }),
    say: ({ decision, note }: Answer) =>
      postAnswer(hubPaths.answer, {
        token,
        decision,
        note: note === undefined ? undefined : note.slice(0, 1000),
      }),
  };
};
