import type { Clock } from "@harnesskit/wire";
import type { Attendance } from "./attendance.ts";

/** What to do with a question while no client is there that could answer it. */
export type UnattendedPolicy =
  /** It waits, also over a restart. */
  | "wait"
  /** The call is refused at once. */
  | "deny"
  /** It is refused when nobody has come by then. */
  | { readonly timeoutMs: number };

export interface WatchOptions {
  readonly threadId: string;
  /** Milliseconds since the epoch; undefined for never. */
  readonly expiresAt: number | undefined;
  readonly unattended: UnattendedPolicy;
  readonly attendance: Attendance;
  readonly clock: Clock;
  readonly settle: (reason: "expired" | "unattended") => void;
}

/** Watches a question that waits: its expiry, and whether anybody is there. Returns what ends the watch. */
export const watchQuestion = (options: WatchOptions): (() => void) => {
  const { threadId, expiresAt, unattended, attendance, clock, settle } = options;
  const undo: (() => void)[] = [];
  if (expiresAt !== undefined) {
    undo.push(clock.after(Math.max(0, expiresAt - clock.now()), () => settle("expired")));
  }
  if (unattended !== "wait") {
    const timeoutMs = unattended === "deny" ? 0 : unattended.timeoutMs;
    let cancel: (() => void) | undefined;
    const look = () => {
      cancel?.();
      cancel = undefined;
      if (attendance.isAttended(threadId)) return;
      if (timeoutMs === 0) settle("unattended");
      else cancel = clock.after(timeoutMs, () => settle("unattended"));
    };
    undo.push(attendance.onChange(look), () => cancel?.());
    look();
  }
  return () => {
    for (const end of undo) end();
  };
};
