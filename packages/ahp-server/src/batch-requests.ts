import { type AhpEvent, ahpEvents, type Decision, type HandshakeParams } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import { type Accepted, atIndex, checkBatch } from "./check-event.ts";
import { applyContract } from "./contracts.ts";
import { BatchDecisions } from "./decide-batch.ts";
import type { AnyDecision } from "./decider.ts";
import type { Origin } from "./origin.ts";
import { readBatch, readEvent } from "./parse-params.ts";
import { BatchedCall, PendingCall } from "./pending-call.ts";
import { handshakeRequired, Refusal } from "./refusal.ts";
import { type Reply, resultReply, type ServerParts } from "./server-parts.ts";
import { cancelled } from "./supervisor.ts";

type Outcome = AnyDecision | Refusal;

/** The events of a batch and the handshake that each goes by; a list without one stands for an empty batch. */
interface ReadBatch {
  readonly events: AhpEvent[];
  readonly handshakes: HandshakeParams[];
}

const readEvents = <Context>(
  parts: ServerParts<Context>,
  params: unknown,
  origin: Origin<Context>,
): ReadBatch | Refusal => {
  const list = readBatch(params, parts.limits);
  if (list instanceof Refusal) return list;
  const events: AhpEvent[] = [];
  const handshakes: HandshakeParams[] = [];
  for (const [index, raw] of list.entries()) {
    const event = readEvent(raw, parts.limits);
    if (event instanceof Refusal) return atIndex(event, index, raw);
    // Mostly all are of one session.
    const isSame = event.session_id === events.at(-1)?.session_id;
    const handshake = isSame ? handshakes.at(-1) : origin.handshakeOf(event.session_id);
    if (!handshake) return handshakeRequired();
    events.push(event);
    handshakes.push(handshake);
  }
  return { events, handshakes };
};

/** Ends with the job, or with the batch where that is over first, so that nobody waits for a handler that hangs. */
const untilAborted = (job: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> =>
  new Promise((resolve) => {
    const giveUp = () => resolve(cancelled());
    signal.addEventListener("abort", giveUp, { once: true });
    void job.then((outcome) => {
      signal.removeEventListener("abort", giveUp);
      resolve(outcome);
    });
  });

/** One event of a batch; a notification waits until those of its session before it are handled. */
const decideOne = <Context>(
  { decider, lanes }: ServerParts<Context>,
  batch: PendingCall<Context>,
  { event }: Accepted,
  call: BatchedCall<Context>,
): Outcome | Promise<Outcome> => {
  if (ahpEvents[event.event_type].blocking) return decider.decide(event, call);
  return lanes.run(batch.origin.laneOf(event.session_id), () => {
    if (batch.isAborted) return cancelled();
    const outcome = decider.decide(event, call);
    return outcome instanceof Promise ? untilAborted(outcome, batch.signal) : outcome;
  });
};

/**
 * `ahp/batch`: a decision for each event, in order. Everything is checked before any handler is asked; what has no decision
 * when the time is over is blocked.
 */
export const answerBatch = <Context>(
  parts: ServerParts<Context>,
  id: RequestId,
  params: unknown,
  origin: Origin<Context>,
): Refusal | Reply | Promise<Reply> => {
  const { limits, clock, audit, stats, decisions, supervisor } = parts;
  const read = readEvents(parts, params, origin);
  if (read instanceof Refusal) return read;
  const accepted = checkBatch(read.events, limits);
  if (accepted instanceof Refusal) return accepted;
  for (const [index, { event, snapshot }] of accepted.entries()) {
    const unkept = applyContract(parts, origin, event, snapshot);
    if (unkept) return atIndex(unkept, index, event);
  }
  const [first = noHandshake] = read.handshakes;
  const call = new PendingCall(origin, first, id, clock.now());
  const elapsed = () => clock.now() - call.startedAt;
  const batch = new BatchDecisions({
    accepted,
    maxConcurrent: limits.maxConcurrentBatchEvents,
    decide: (each, index) =>
      decideOne(parts, call, each, new BatchedCall(call, read.handshakes[index] ?? first, index)),
    onDecided: ({ event }, batchIndex, outcome) =>
      audit.event(event, outcome, { requestId: id, batchIndex, durationMs: elapsed() }),
    onLate: () => {
      stats.lateResults++;
    },
  });
  let failure: Refusal | undefined;
  const outcome = supervisor.watch(call, batch.run(), (why) => {
    failure = why;
    return batch.close(why);
  });
  const toReply = (decided: readonly Decision[]): Reply => {
    stats.batches++;
    for (const { decision } of decided) decisions.add(decision);
    audit.batch(id, decided.length, elapsed(), failure?.outcome ?? "ok");
    return resultReply(id, { decisions: decided });
  };
  return outcome instanceof Promise ? outcome.then(toReply) : toReply(outcome);
};

/** For a batch without events, which no handler sees. */
const noHandshake: HandshakeParams = {
  protocol_version: "",
  agent_info: { framework: "", version: "", capabilities: [] },
  session_id: "",
  agent_id: "",
};
