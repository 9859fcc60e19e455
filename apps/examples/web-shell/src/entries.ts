import type { TaskHint } from "@harnesskit/protocol/openharness";
import type { PendingApproval } from "@harnesskit/shell-client";

/** What can be sent again. */
export interface Sending {
  readonly intent: string;
  readonly taskHint?: TaskHint | undefined;
  /** References as the user wrote them. @default none */
  readonly attachments?: readonly string[] | undefined;
  /** The request's id, under which it is sent again. @default a new one */
  readonly requestId?: string;
}

/** How an approval stands. `elsewhere`: another shell was first. `gone`: it can be answered no more. */
export type ApprovalState = "open" | "approved" | "refused" | "elsewhere" | "gone";

/** What is shown of a question. */
export interface Question {
  readonly title: string | undefined;
  readonly message: string;
  readonly risk: "safe" | "caution" | "dangerous";
  /** What would happen, as the engine says it. */
  readonly subject: unknown;
  /** What else the engine says of it. */
  readonly more?: unknown;
}

interface Part {
  readonly id: string;
}

export interface UserEntry extends Part {
  readonly kind: "user";
  readonly text: string;
}
export interface MessageEntry extends Part {
  readonly kind: "message";
  readonly text: string;
  readonly format?: "markdown" | undefined;
}
export interface CardEntry extends Part {
  readonly kind: "card";
  readonly component: string;
  readonly title: string | undefined;
  readonly data: unknown;
  /** What stands for it where it cannot be shown. */
  readonly fallback: string | undefined;
  /** A form that was sent. */
  readonly isSettled: boolean;
}
export interface ApprovalEntry extends Part {
  readonly kind: "approval";
  readonly question: Question;
  /** What the answer is sent with; undefined for a question of this page, which ends with it. */
  readonly pending: PendingApproval | undefined;
  readonly state: ApprovalState;
  readonly reason: string | undefined;
}
export interface ErrorEntry extends Part {
  readonly kind: "error";
  readonly code: string;
  readonly text: string;
  /** What can be sent again; undefined where that would not help, and when it was. */
  readonly again: Sending | undefined;
  /** True once it was sent again. */
  readonly isSettled: boolean;
}
export interface NoteEntry extends Part {
  readonly kind: "note";
  readonly text: string;
}

export type Entry = UserEntry | MessageEntry | CardEntry | ApprovalEntry | ErrorEntry | NoteEntry;

/** An entry without its id. */
export type NewEntry = Entry extends infer E ? (E extends Part ? Omit<E, keyof Part> : never) : never;
