import type { TimelineRow } from "@harnesskit/protocol/hub";
import { joinKey } from "@harnesskit/wire";
import { ruleHit, sessionTally } from "./row-rules.ts";
import type { RuleTally, SessionTally, StoredContent } from "./timeline-store.ts";

/** A row became another; `before` is undefined and `content` is given for a new row. */
export interface RowStep {
  readonly before: TimelineRow | undefined;
  readonly after: TimelineRow;
  readonly content: StoredContent | undefined;
}

/** What changes of rows add to the counts of sessions and rules. */
export class RowTally {
  readonly #sessions = new Map<string, SessionTally>();
  readonly #rules = new Map<string, RuleTally>();

  /** One for each session; its numbers are what to add. */
  get sessions(): readonly SessionTally[] {
    return [...this.#sessions.values()];
  }

  /** One for each decision of a rule; `hits` is what to add. */
  get rules(): readonly RuleTally[] {
    return [...this.#rules.values()];
  }

  add({ before, after, content }: RowStep): void {
    const key = joinKey(after.agent, after.session);
    this.#sessions.set(key, sessionTally(this.#sessions.get(key), before, after, content));
    const hit = ruleHit(before, after);
    if (hit === undefined) return;
    const rule = joinKey(hit.kind, hit.name, hit.decision);
    const hits = (this.#rules.get(rule)?.hits ?? 0) + 1;
    this.#rules.set(rule, { ...hit, hits, lastHitAtMs: after.atMs });
  }

  /** Forgets sessions and rules beyond a number, those seen first. */
  forget(maxNames: number): void {
    for (const names of [this.#sessions, this.#rules]) {
      for (const key of names.keys()) {
        if (names.size <= maxNames) break;
        names.delete(key);
      }
    }
  }
}
