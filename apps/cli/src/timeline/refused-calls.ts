import type { EventBody } from "@harnesskit/protocol/threads";
import { undecidedCodes } from "@harnesskit/thread-server";

/** Why a call did not run. Each is another end for a user and for a script. */
export type Refusal = "rejected" | "unattended" | "expired" | "blocked" | "timedOut" | "unavailable";

/** How a number of them reads. */
const words: Readonly<Record<Refusal, string>> = {
  blocked: "blocked by the policy",
  rejected: "refused",
  unattended: "no user to ask",
  expired: "not approved in time",
  timedOut: "not judged in time",
  unavailable: "could not be judged",
};

const byCode: Readonly<Record<string, Refusal>> = {
  "approval.unattended": "unattended",
  "approval.expired": "expired",
  gate_failed: "unavailable",
  [undecidedCodes.timeout]: "timedOut",
  [undecidedCodes.unavailable]: "unavailable",
};

/** Why something did not run, by the status of its item and its code; undefined where it was not refused. */
export const refusalOf = (status: string, code = ""): Refusal | undefined => {
  if (status !== "rejected" && status !== "blocked") return undefined;
  return byCode[code] ?? status;
};

/** Counts what the agent wanted in a turn and did not get. */
export class RefusedCalls {
  readonly #counts = new Map<Refusal, number>();

  observe(event: EventBody): void {
    if (event.type === "turn.started") this.#counts.clear();
    if (event.type !== "item.completed" || event.data.item.type !== "tool_exec") return;
    const { status, code } = event.data.item.data ?? {};
    const refusal = status && refusalOf(status, code);
    if (refusal) this.#counts.set(refusal, this.count(refusal) + 1);
  }

  count(refusal: Refusal): number {
    return this.#counts.get(refusal) ?? 0;
  }

  /** True where a user, a client or a policy did not want a call. */
  get any(): boolean {
    const decided = ["rejected", "unattended", "expired", "blocked"] as const;
    return decided.some((refusal) => this.count(refusal) > 0);
  }

  /** True where a call was not judged: no policy could be asked, or it did not answer in time. */
  get unjudged(): boolean {
    return this.count("timedOut") + this.count("unavailable") > 0;
  }

  /** What did not run, and why; empty where everything ran. */
  get text(): string {
    const found = Object.entries(words)
      .map(([refusal, word]) => ({ count: this.count(refusal as Refusal), word }))
      .filter(({ count }) => count > 0);
    const total = found.reduce((sum, { count }) => sum + count, 0);
    if (total === 0) return "";
    const why = found.map(({ count, word }) => (found.length === 1 ? word : `${count} ${word}`)).join(", ");
    return `${total === 1 ? "1 call" : `${total} calls`} did not run: ${why}`;
  }
}
