import type { ApprovalRecord } from "@harnesskit/approvals";
import { AnswerRequestSchema, AnswerViewRequestSchema, hubPaths } from "@harnesskit/protocol/hub";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import type { Hub } from "../hub-options.ts";
import type { AnswerLinks } from "./answer-links.ts";
import { jsonAnswer, plainAnswer, readJsonBody } from "./page-answers.ts";

export interface AnswerHandlerOptions {
  readonly hub: Pick<Hub, "approval" | "answer">;
  readonly links: AnswerLinks;
  /** Reports a token that was refused. */
  readonly onRefused: (path: string) => void;
}

const statuses: Readonly<Record<string, number>> = { approval_not_found: 404, rate_limited: 429 };

/** 409 where the question is not as it was any more. */
const statusOf = (error: HarnessError): number => {
  if (!ProtocolError.isInstance(error)) return 409;
  const { reason } = (error.data ?? {}) as { readonly reason?: string };
  return statuses[reason ?? ""] ?? 500;
};

const goneAnswer = (): Response => plainAnswer(404, "This approval is not kept any more.");

/** How an approval ended, in a sentence. */
const overText = ({ status, answer }: ApprovalRecord): string =>
  answer === undefined ? `This approval is over: ${status}.` : `This approval was ${status} by ${answer.by}.`;

/**
 * Answers the page of a link in a notice. Only POST does anything: programs that look at links before people do answer nothing. Returns
 * undefined for other paths.
 */
export const createAnswerHandler = ({ hub, links, onRefused }: AnswerHandlerOptions) => {
  const refused = (path: string): Response => {
    onRefused(path);
    return plainAnswer(
      401,
      "This link is too old, or was changed. Answer in the hub's page: harness hub --open",
    );
  };
  const view = async (request: Request): Promise<Response> => {
    const asked = AnswerViewRequestSchema.safeParse(await readJsonBody(request));
    const linked = asked.success ? links.read(asked.data.token) : undefined;
    if (linked === undefined) return refused(hubPaths.answerView);
    const record = await hub.approval(linked.id);
    if (record === undefined || record.digest !== linked.digest) return goneAnswer();
    // Once it is over, a link says how it ended, and no more of what it was or what came of it.
    return record.status === "pending" ? jsonAnswer({ record }) : plainAnswer(410, overText(record));
  };
  const say = async (request: Request): Promise<Response> => {
    const asked = AnswerRequestSchema.safeParse(await readJsonBody(request));
    const linked = asked.success ? links.read(asked.data.token) : undefined;
    if (!asked.success || linked === undefined) return refused(hubPaths.answer);
    const { decision, note } = asked.data;
    // A link that was used costs nothing of the answers that all may give in a minute.
    const known = await hub.approval(linked.id);
    if (known === undefined || known.digest !== linked.digest) return goneAnswer();
    if (known.status !== "pending") return plainAnswer(409, overText(known));
    try {
      const record = await hub.answer(
        { id: linked.id, digest: linked.digest, decision, note },
        `${linked.for} (signed link)`,
      );
      return jsonAnswer({ record });
    } catch (error) {
      if (!HarnessError.isInstance(error)) throw error;
      return plainAnswer(statusOf(error), error.message);
    }
  };
  return async (request: Request, path: string): Promise<Response | undefined> => {
    if (path !== hubPaths.answerView && path !== hubPaths.answer) return undefined;
    if (request.method !== "POST") return plainAnswer(405, "This path takes POST.", { allow: "POST" });
    return path === hubPaths.answer ? say(request) : view(request);
  };
};
