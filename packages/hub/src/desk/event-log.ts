import type { ApprovalRecord } from "@harnesskit/approvals";
import type { Explanation } from "@harnesskit/policy";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type NewRow,
  type StoredContent,
  type StoredRow,
  type TimelineChange,
  unjudged,
} from "@harnesskit/timeline";
import type { Clock } from "@harnesskit/wire";
import { defined, isObject } from "@harnesskit/wire/json";
import type { Recorder } from "../timeline/recorder.ts";
import { type ContentRules, redactedLine, rowContent } from "../timeline/row-content.ts";
import { ActionKeys, areDifferent } from "./action-keys.ts";
import { rowApprovalOf } from "./approval-row.ts";
import { eventContent, rowDecisionOf, rowOf, type Word } from "./event-row.ts";
import { shortId } from "./event-text.ts";
import { errorOf, reportedOutcome } from "./outcome.ts";
import { type AnyEvent, type EventFacts, snapshotKey } from "./read-event.ts";

export interface EventLogOptions {
  readonly recorder: Recorder;
  readonly content: ContentRules;
  readonly clock: Clock;
}

const goingOn: ReadonlySet<string> = new Set(["allow", "modify", "approve", "refine", "retry", "queue"]);

/** What a prompt's report names it by. */
const promptIdOf = (type: AhpEventType, { callId, metadata }: EventFacts): string | undefined =>
  type === "pre_prompt" ? (callId ?? shortId(metadata.prompt_id)) : undefined;

/** Types whose allowed event has an outcome: an action. */
export const hasOutcome = (type: AhpEventType): boolean => type === "pre_action";

/** Writes what happens as rows: one for each action, which its outcome closes, and one for each other event. */
export class EventLog {
  readonly #options: EventLogOptions;
  readonly #keys = new ActionKeys();

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  /** What a policy decided. As with an audit log, no such decision waits for the disk. */
  decided(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    made: Word | undefined,
  ): Promise<void> | undefined {
    const { recorder, content: rules, clock } = this.#options;
    const isAction = hasOutcome(event.event_type);
    const goesOn = made !== undefined && goingOn.has(made.decision);
    const state = goesOn ? (isAction ? "running" : "noted") : "refused";
    const modified = made?.modified_payload;
    const content = eventContent(event, rules, { explanation, modified });
    const decision = rowDecisionOf(explanation, made);
    const row = { ...rowOf(event, facts, state, clock.now()), decision };
    if (isAction && !goesOn) this.#keys.decided(facts);
    if (!isAction || !goesOn) return recorder.note({ type: "add", row, content });
    return recorder.note({ type: "add", key: this.#keys.begin(facts, modified), row, content });
  }

  /** A question to a human: the row of the first call, for a repeated one. */
  async asked(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    record: ApprovalRecord,
  ): Promise<void> {
    const { recorder, content: rules, clock } = this.#options;
    // A prompt that is given up is reported by its id, as an action is.
    const callId = hasOutcome(event.event_type) ? facts.callId : promptIdOf(event.event_type, facts);
    const isCall = hasOutcome(event.event_type) || callId !== undefined;
    const key = isCall ? { key: this.#keys.begin({ ...facts, callId }) } : {};
    const content = eventContent(event, rules, { explanation });
    const decision = rowDecisionOf(explanation, { decision: "escalate" });
    const approval = rowApprovalOf(record);
    const row = { ...rowOf(event, facts, "waiting", clock.now()), decision, approval };
    await recorder.write({
      type: "change",
      find: { approvalId: record.id },
      ...key,
      // A repeated call may have another id: its outcome finds the row by that.
      apply: () => (isCall ? {} : undefined),
      orAdd: { ...key, row, content },
    });
  }

  /** An event that nothing is decided about. */
  async noted(event: AnyEvent, facts: EventFacts): Promise<void> {
    const { recorder, content: rules, clock } = this.#options;
    const type = event.event_type;
    const content = eventContent(event, rules);
    const row = rowOf(event, facts, type === "error" ? "failed" : "noted", clock.now());
    if (type === "session_end") {
      const { agent, session } = facts;
      await recorder.note({
        type: "lose",
        of: { agent, session },
        outcome: "the session ended without an outcome",
      });
    }
    const key = snapshotKey(type, facts);
    if (key === undefined) return recorder.note({ type: "add", row, content });
    // A snapshot replaces the one before; the row keeps its time.
    return recorder.note({
      type: "change",
      find: { key },
      apply: ({ row: { atMs } }) => ({ row: { ...row, atMs }, content }),
      orAdd: { key, row, content },
    });
  }

  /** An action's outcome closes its row. Resolves with the approval that a cancelled call does not need any more. */
  async ended(event: AnyEvent, facts: EventFacts): Promise<string | undefined> {
    const { recorder, content: rules, clock } = this.#options;
    const isCancelled = facts.payload.outcome === "cancelled";
    const atMs = clock.now();
    const ending = rowEnd(facts, atMs);
    const outcome = outcomeContentOf(facts, rules);
    const content = eventContent(event, rules);
    const found = this.#keys.end(facts);
    const { state } = reportedOutcome(facts);
    // What was refused or given up was not done, whoever was asked.
    const isUnjudged = found?.wasDecided !== true && state !== "refused" && !isCancelled;
    const judged = rowOf(event, facts, state, atMs);
    const row = isUnjudged ? { ...judged, decision: unjudged } : judged;
    const alone = { row: { ...row, ...ending(row) }, content: { ...content, ...outcome } };
    if (found === undefined) {
      await recorder.note({ type: "add", ...alone });
      return undefined;
    }
    // Its row is closed already: a call that did not run is one thing that happened.
    const isSaidAgain = state === "refused" && found.wasDecided;
    let unneeded: string | undefined;
    let isOther = false;
    const change: TimelineChange = {
      type: "change",
      find: { key: found.key },
      apply: (stored: StoredRow) => {
        isOther = !found.isKnown && isAnother(stored.content, content);
        if (isOther) return undefined;
        if (isCancelled) unneeded = stored.row.approval?.id;
        return { row: ending(stored.row), content: { ...stored.content, ...outcome } };
      },
      orAdd: isSaidAgain ? undefined : alone,
    };
    // The hub reports the outcome to the approval of the row, if it has one.
    if (!isCancelled && found.isKnown) await recorder.note(change);
    else await recorder.keep(change);
    if (isOther) await recorder.note({ type: "add", ...alone });
    return unneeded;
  }
}

const payloadOf = ({ event }: StoredContent): JsonObject => {
  const payload = isObject(event?.value) ? event.value.payload : undefined;
  return isObject(payload) ? (payload as JsonObject) : {};
};

/** Whether a row is about another action than its outcome; both were redacted alike. */
const isAnother = (row: StoredContent, outcome: StoredContent): boolean => {
  const began = payloadOf(row);
  const changed = row.modifiedInput?.value;
  const ended = payloadOf(outcome);
  return (
    areDifferent(began, ended) &&
    !(isObject(changed) && !areDifferent({ ...began, ...(changed as JsonObject) }, ended))
  );
};

const rowEnd = (facts: EventFacts, nowMs: number) => {
  const { state, text } = reportedOutcome(facts);
  const { duration_ms: duration } = facts.payload;
  const said = typeof duration === "number" ? Math.round(duration) : -1;
  // A row that its schema refuses would make its whole page unreadable.
  const isSaid = Number.isSafeInteger(said) && said >= 0;
  return (row: Pick<NewRow, "atMs" | "approval">): Partial<NewRow> =>
    defined({
      state,
      endedAtMs: nowMs,
      // An approved action began when its answer was taken: `approvalRow` measures from there.
      durationMs:
        isSaid || row.approval === undefined ? (isSaid ? said : Math.max(0, nowMs - row.atMs)) : undefined,
      outcome: text === undefined ? undefined : redactedLine(text),
    });
};

const outcomeContentOf = (facts: EventFacts, rules: ContentRules): Partial<StoredContent> => {
  const { result, output = result } = facts.payload;
  const error = errorOf(facts);
  return defined({
    output: output === undefined ? undefined : rowContent(output, rules),
    error: error === undefined ? undefined : { ...error, message: redactedLine(error.message, 4000) },
  });
};
