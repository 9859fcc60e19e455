import { must } from "../../../../scripts/crash/violation.mjs";
import { readEffects, takeApart } from "./reading.mjs";
import { kindOf, says, signalIdOf } from "./story-graph.mjs";

/** In order, so that two lists with the same values are the same. */
const sorted = (values) => [...values].sort();

const same = (what, found, expected) => {
  const [a, b] = [JSON.stringify(sorted(found)), JSON.stringify(sorted(expected))];
  must(a === b, `${what}: found ${a}, expected ${b}`);
};

/** What the store says agrees with itself, whoever asks. */
const checkStore = (reading) => {
  const { sessionId, heard, records } = reading;
  const parts = takeApart(reading);
  const effects = readEffects(reading);
  must(
    heard === parts.heard.length,
    `${sessionId}: ${heard} messages are counted, the history has ${parts.heard.length}`,
  );
  const suspended = records.filter(({ status }) => status === "suspended");
  const ended = records.filter(({ status }) => status !== "suspended");
  must(
    ended.every(({ status }) => status === "completed"),
    `${sessionId}: a resumed turn failed: ${JSON.stringify(ended.map(({ result }) => result))}`,
  );
  // A pause is in the history exactly as long as its record waits, and an end exactly once its record has ended.
  const place = ({ descriptor: { metadata } }) => `${metadata.topic}: ${metadata.stage}`;
  same(`${sessionId}: what waits in the history`, parts.waiting, suspended.map(place));
  same(
    `${sessionId}: what was done in the history`,
    parts.done.map(({ topic }) => topic),
    ended.map(({ descriptor }) => descriptor.metadata.topic),
  );
  // One effect for each signal that was answered: the last one of an ended invocation, the first one of one that asks again.
  const answered = records.flatMap(({ invocation_id: id, status, descriptor }) => {
    const { topic, stage } = descriptor.metadata;
    const stages = [...(stage === "second" ? ["first"] : []), ...(status === "suspended" ? [] : [stage])];
    return stages.map((each) => `${id} | ${signalIdOf(topic, each, id)}`);
  });
  same(
    `${sessionId}: the effects of signals`,
    effects.map(({ invocationId, signalId }) => `${invocationId} | ${signalId}`),
    answered,
  );
  for (const { invocation_id: id, descriptor } of ended) {
    const { answer } = effects.findLast(({ invocationId }) => invocationId === id);
    const { topic } = descriptor.metadata;
    must(
      parts.done.some((done) => done.topic === topic && done.answer === answer),
      `${sessionId}: ${topic} has the effect of ${answer}, and the history has another`,
    );
  }
  return { ...parts, effects, suspended, ended };
};

/** How often a message may be in the history, by how often it was sent and whether the sending was acknowledged. */
const range = ({ text, tried, isAcknowledged }) => {
  // A second pause for the same signal is refused; a `chat` and a `job` have nothing that tells a repetition.
  const most = ["ask", "twice"].includes(kindOf(text)) ? 1 : tried;
  return [isAcknowledged ? 1 : 0, most];
};

const checkSends = ({ sessionId }, { heard }, { sends }) => {
  for (const send of sends) {
    const count = heard.filter((text) => text === send.text).length;
    const [least, most] = range(send);
    must(count >= least, `${sessionId}: ${send.text} was acknowledged and is lost`);
    must(
      count <= most,
      `${sessionId}: ${send.text} was sent ${send.tried} times and is there ${count} times`,
    );
  }
  const order = sends.map(({ text }) => text);
  let last = -1;
  for (const text of heard) {
    const place = order.indexOf(text);
    must(place >= 0, `${sessionId}: ${text} was never sent`);
    must(place >= last, `${sessionId}: ${text} is stored behind ${order[last]}, which was sent later`);
    last = place;
  }
};

const checkWaits = ({ sessionId, records }, { effects }, { sends, signals }) => {
  for (const { text, isAcknowledged, invocationId } of sends) {
    if (!isAcknowledged || kindOf(text) === "chat") continue;
    const record = records.find(({ invocation_id: id }) => id === invocationId);
    must(record !== undefined, `${sessionId}: ${text} was suspended and has no record`);
    const isUntouched = !signals.some((signal) => signal.invocationId === invocationId);
    must(
      !isUntouched || (record.status === "suspended" && record.signal === null),
      `${sessionId}: ${text} continues without a signal`,
    );
  }
  for (const { invocation_id: id, signal } of records) {
    const isTried = signals.some(({ invocationId }) => invocationId === id);
    must(signal === null || isTried, `${sessionId}: ${id} has a signal that was never sent`);
  }
  for (const { invocationId, signalId, answer } of effects) {
    const signal = signals.find((each) => each.signalId === signalId && each.invocationId === invocationId);
    const isTried = signal?.tried.some(({ value }) => value === answer);
    must(isTried, `${sessionId}: the effect ${answer} of ${signalId} was never signalled`);
  }
  for (const { invocationId, signalId, resumedWith } of signals) {
    if (resumedWith === null) continue;
    must(
      effects.some((each) => each.signalId === signalId && each.answer === resumedWith),
      `${sessionId}: ${signalId} was resumed with ${resumedWith}, and ${invocationId} has no such effect`,
    );
  }
};

const checkTold = ({ sessionId }, { ended, effects }, { told }) => {
  for (const { invocationId, replies } of told) {
    const record = ended.find(({ invocation_id: id }) => id === invocationId);
    must(record !== undefined, `${sessionId}: the end of ${invocationId} was delivered and is not stored`);
    const { topic, stage } = record.descriptor.metadata;
    const { answer } = effects.findLast((each) => each.invocationId === invocationId);
    const expected = [
      ...(stage === "second" ? [says.question(topic, "second")] : []),
      says.done(topic, answer),
    ];
    must(
      JSON.stringify(replies) === JSON.stringify(expected),
      `${sessionId}: ${invocationId} delivered ${JSON.stringify(replies)}, not ${JSON.stringify(expected)}`,
    );
  }
  // A delivery is recorded by its listener first: what counts as delivered has reached a listener.
  for (const { invocation_id: id, is_delivered: isDelivered } of ended) {
    must(
      !isDelivered || told.some(({ invocationId }) => invocationId === id),
      `${sessionId}: the end of ${id} counts as delivered and reached no listener`,
    );
  }
};

/**
 * Looks at what a process has left of a session, at any moment, beside what its client knows. Throws a `Violation`.
 *
 * - Every message whose sending was acknowledged is there, once, and in the order of arrival. What was sent and not acknowledged may be
 *   there or not, but never half: with its reply or question, its count, its record. It may be there once for each time that it was
 *   sent: a message has no name by which a repetition could be recognised. The pause of an `ask` has one, its signal: it is there once.
 * - A pause is in the history if and only if its record waits; its end, if and only if the record has ended.
 * - Each signal has its effect once; one whose delivery was acknowledged as resumed, with the payload of that delivery.
 * - An end is delivered, and then a listener has heard it as it is stored, or it is kept as undelivered.
 */
export const checkNow = (reading, ledger) => {
  const parts = checkStore(reading);
  checkSends(reading, parts, ledger);
  checkWaits(reading, parts, ledger);
  checkTold(reading, parts, ledger);
  return parts;
};

/** The same once the client has done all that it wanted: nothing waits, nothing is undelivered, every signal had its effect. */
export const checkEnd = (reading, ledger) => {
  const { sessionId, records } = reading;
  const { suspended, effects } = checkNow(reading, ledger);
  must(
    suspended.length === 0,
    `${sessionId}: ${suspended.map(({ descriptor }) => descriptor.signal_id)} wait still`,
  );
  const undelivered = records.filter((record) => !record.is_delivered);
  must(
    undelivered.length === 0,
    `${sessionId}: undelivered are ${undelivered.map(({ invocation_id: id }) => id).join(", ")}`,
  );
  for (const { text, isAcknowledged } of ledger.sends) {
    must(isAcknowledged, `${sessionId}: ${text} was not acknowledged in the end`);
  }
  for (const { signalId } of ledger.signals) {
    const isEffective = effects.some((effect) => effect.signalId === signalId);
    must(isEffective, `${sessionId}: the signal ${signalId} had no effect`);
  }
};
