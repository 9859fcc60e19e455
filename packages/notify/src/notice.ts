import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import { displayText } from "@harnesskit/wire";

/** Where people answer. */
export interface NoticeLinks {
  /** The page with this approval, or the inbox. */
  page(id?: string): string;
  /** A link that answers this approval once, for a short time. @default notices have none */
  answer?: ((record: ApprovalRecord, target: string) => string) | undefined;
}

/** One approval, in a notice. All strings are one line, bounded, and hide nothing. Its input is not in it. */
export interface NoticeItem {
  readonly id: string;
  /** What will be done, in words. */
  readonly title: string;
  readonly risk: string;
  readonly agent: string;
  readonly session: string;
  readonly tool: string;
  /** Why a human is asked. */
  readonly reason: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The hub's page with the approval. */
  readonly link: string;
  readonly answerLink?: string | undefined;
}

export interface Notice {
  /** The same for each attempt. */
  readonly id: string;
  readonly atMs: number;
  /** The first of them, at most 10. */
  readonly items: readonly NoticeItem[];
  /** How many wait, those included that are not listed. */
  readonly total: number;
  /** The inbox. */
  readonly link: string;
}

export const maxItems = 10;

const short = (text: string, maxLength: number): string => displayText(text, { maxLength });

export const noticeItem = (record: ApprovalRecord, links: NoticeLinks, target: string): NoticeItem => {
  const { title, risk, reason } = presentApproval(record, { maxLines: 1, maxLength: 1 });
  return {
    id: record.id,
    title: short(title, 200),
    risk: risk.level,
    agent: short(record.origin.agent, 100),
    session: short(record.origin.session, 100),
    tool: short(record.subject.tool, 100),
    reason: short(reason, 300),
    createdAtMs: record.createdAtMs,
    expiresAtMs: record.expiresAtMs,
    link: links.page(record.id),
    answerLink: links.answer ? links.answer(record, target) : undefined,
  };
};

/** `An approval waits (high risk)`, `3 approvals wait`. */
export const headlineOf = ({ items: [first], total }: Notice): string => {
  if (total !== 1 || first === undefined) return `${total} approvals wait`;
  return `An approval waits (${first.risk === "unknown" ? "risk unknown" : `${first.risk} risk`})`;
};

/** What one approval is about, in lines of plain text. */
export const factLines = ({ title, risk, agent, session, reason, expiresAtMs }: NoticeItem): string[] => [
  title,
  `Agent: ${agent}, session ${session}`,
  `Risk: ${risk}`,
  `Why it asks: ${reason}`,
  `Expires: ${new Date(expiresAtMs).toISOString()}`,
];

/** The same with its links. */
export const itemLines = (item: NoticeItem): string[] => [
  ...factLines(item),
  `See it: ${item.link}`,
  ...(item.answerLink === undefined ? [] : [`Answer it: ${item.answerLink}`]),
];

/** What a notice does not list. */
export const restLines = ({ items, total, link }: Notice): string[] =>
  total === items.length ? [] : [`${total - items.length} more in the inbox: ${link}`];
