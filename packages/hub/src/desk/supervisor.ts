import { HandlerError } from "@harnesskit/ahp-server";
import type { PolicyHarness } from "@harnesskit/policy";
import type { Recorder } from "../timeline/recorder.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { AskingCall, Escalation } from "./escalation.ts";
import type { EventLog } from "./event-log.ts";
import type { Word } from "./event-row.ts";
import { type AnyEvent, type EventFacts, readEvent } from "./read-event.ts";

export interface SupervisorOptions {
  readonly policy: PolicyHarness;
  readonly desk: ApprovalDesk;
  readonly escalation: Escalation;
  readonly log: EventLog;
  readonly recorder: Pick<Recorder, "isAway">;
  readonly onError: (error: unknown) => void;
}

/** The target of an escalation to the user who sits at the agent. */
const terminalTarget = "terminal";

/** Decides each event by policy or by a human, and records what was decided and what came of it. */
export class Supervisor {
  readonly #options: SupervisorOptions;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** The decision about a blocking event. Throws `HandlerError` `not_supported`, and the errors of the timeline's store. */
  async decide(event: AnyEvent, call: AskingCall): Promise<unknown> {
    const { policy, escalation, log } = this.#options;
    const facts = readEvent(event);
    const explanation = policy.decide(event as Parameters<PolicyHarness["decide"]>[0]);
    const made = explanation.decision as Word | undefined;
    if (isForHuman(event, facts, made)) return escalation.decide(event, facts, explanation, call);
    const full = log.decided(event, facts, explanation, made);
    if (full !== undefined) await full;
    if (made !== undefined) return made;
    throw new HandlerError(`Capability not supported: ${event.event_type}`, { code: "not_supported" });
  }

  /** Records a notification; an action's outcome closes its row. */
  async note(event: AnyEvent): Promise<void> {
    const { policy, desk, log, recorder, onError } = this.#options;
    if (event.event_type === "heartbeat") return;
    const facts = readEvent(event);
    // The policy's limits count what has ended, too.
    policy.decide(event as Parameters<PolicyHarness["decide"]>[0]);
    if (event.event_type !== "post_action") return log.noted(event, facts);
    const ended = log.ended(event, facts).then(async (unneeded) => {
      if (unneeded !== undefined) await desk.withdraw(unneeded, facts.agent, "the call was cancelled");
    });
    // An outcome waits for a store that is away, its agent does not.
    if (recorder.isAway) void ended.catch(onError);
    else await ended;
  }
}

const isForHuman = (event: AnyEvent, { metadata }: EventFacts, made: Word | undefined): boolean => {
  // The agent asks its own user where the policy wants that and the agent can.
  const isLeft = made?.escalation_target === terminalTarget && metadata.host_asks === true;
  return (
    (made?.decision === "escalate" && !isLeft) || (made === undefined && event.event_type === "confirmation")
  );
};
