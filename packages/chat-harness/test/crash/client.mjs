import { must } from "../../../../scripts/crash/violation.mjs";
import { kindOf, says, signalIdOf, stagesOf } from "./story-graph.mjs";

const textsOf = (messages) => messages.map(({ content }) => content);

const sameTexts = (what, messages, expected) => {
  const texts = JSON.stringify(textsOf(messages ?? []));
  must(texts === JSON.stringify(expected), `${what}: ${texts} instead of ${JSON.stringify(expected)}`);
};

/**
 * How a turn fails that had lost its lease, because the machine stood still for longer than the lease holds. Nothing of it was stored,
 * and it is done again.
 */
const stallCategories = ["session_write_conflict", "suspension_persistence_failed"];
const maxStalls = 5;

/**
 * The client of one session. It knows what was acknowledged to it, and nothing else: that is its ledger, which is plain JSON and
 * outlives the processes. What was not acknowledged it does again, by calling the same method with the same text.
 */
export class ChatClient {
  ledger;
  /** Turns that were done again because of a lost lease. */
  stalls = 0;
  #world;
  #mayStall;

  /** `mayStall`: time is real, and a turn may lose its lease. */
  constructor(sessionId, ledger, { mayStall = false } = {}) {
    this.#mayStall = mayStall;
    this.ledger = ledger ?? { sessionId, life: 0, sends: [], signals: [], told: [] };
  }

  /** A process begins, and the client reaches it by `world`: `send(sessionId, text)`, `signal(signal)`, `pending(sessionId)`. */
  beginLife(world) {
    this.#world = world;
    this.ledger.life += 1;
  }

  #isStall(turn) {
    return this.#mayStall && turn.outcome === "errored" && stallCategories.includes(turn.error_category);
  }

  /** Calls until the turn does not fail for a lost lease. `turnOf` finds the turn in what the call gives. */
  async #untilKept(call, turnOf) {
    for (let left = maxStalls; ; left--) {
      const outcome = await call();
      if (left === 0 || !this.#isStall(turnOf(outcome))) return outcome;
      this.stalls += 1;
    }
  }

  /** Receives the end of a resumed turn. One process delivers each end once. */
  hear(turn, { invocation_id: invocationId }) {
    const { told, life, sessionId } = this.ledger;
    // Its end could not be stored, so the turn waits again.
    if (this.#isStall(turn)) return;
    must(turn.outcome === "completed", `${sessionId}: told of ${JSON.stringify(turn)}`);
    const isAgain = told.some((each) => each.invocationId === invocationId && each.life === life);
    must(!isAgain, `${sessionId}: the end of ${invocationId} is delivered twice by one process`);
    told.push({ invocationId, replies: textsOf(turn.replies), life });
  }

  async send(text) {
    const { sends, sessionId } = this.ledger;
    let entry = sends.find((each) => each.text === text);
    if (entry === undefined) {
      entry = { text, tried: 0, isAcknowledged: false, invocationId: null };
      sends.push(entry);
    }
    entry.tried += 1;
    const outcome = await this.#untilKept(
      () => this.#world.send(sessionId, text),
      (turn) => turn,
    );
    if (kindOf(text) === "chat") {
      must(outcome.outcome === "completed", `${text} gave ${JSON.stringify(outcome)}`);
      sameTexts(text, outcome.replies, [says.reply(text)]);
    } else if (outcome.outcome === "suspended") {
      sameTexts(text, outcome.pending_messages, [says.question(text, stagesOf(text)[0])]);
      entry.invocationId = outcome.invocation_id;
    } else {
      entry.invocationId = await this.#findSuspended(entry, outcome);
    }
    entry.isAcknowledged = true;
  }

  /** The pause of an earlier sending, which was not acknowledged and has the signal that the repetition would need. */
  async #findSuspended({ text, tried }, outcome) {
    const { sessionId } = this.ledger;
    must(
      outcome.error_category === "harness_signal_subscription_failed" && tried > 1,
      `${text} gave ${JSON.stringify(outcome)}`,
    );
    const { suspended } = await this.#world.pending(sessionId);
    const signalId = signalIdOf(text, stagesOf(text)[0]);
    const found = suspended.find(({ signal_descriptor: descriptor }) => descriptor.signal_id === signalId);
    must(found !== undefined, `${text}: its signal is taken, and nothing waits for it`);
    return found.invocation_id;
  }

  /** Answers a message that waits. May be done again, also when it was acknowledged. */
  async signal(text, stage = "go") {
    const { invocationId } = this.ledger.sends.find((each) => each.text === text);
    await this.#signal({ text, stage, invocationId });
  }

  async #signal({ text, stage, invocationId }) {
    const signalId = signalIdOf(text, stage, invocationId);
    const { signals, life } = this.ledger;
    let entry = signals.find((each) => each.signalId === signalId);
    if (entry === undefined) {
      entry = { signalId, invocationId, tried: [], resumedWith: null, isAnswered: false };
      signals.push(entry);
    }
    const value = `answer ${entry.tried.length + 1}`;
    const isKnownHere = entry.tried.some((each) => each.life === life && each.isHeard);
    const attempt = { value, life, isHeard: false };
    entry.tried.push(attempt);
    const outcome = await this.#untilKept(
      () => this.#world.signal({ signalId, payload: { answer: value } }),
      ({ turn }) => turn ?? {},
    );
    if (outcome.outcome === "resumed") {
      must(!entry.isAnswered, `${signalId} is resumed again`);
      this.#checkTurn({ text, stage, value, outcome, invocationId });
      entry.resumedWith = value;
    } else if (outcome.outcome === "errored") {
      await this.#checkOver({ stage, entry, isKnownHere, outcome });
    } else {
      must(entry.tried.length > 1, `${signalId} gave ${outcome.outcome} at once`);
    }
    attempt.isHeard = outcome.outcome !== "errored";
    entry.isAnswered = true;
  }

  #checkTurn({ text, stage, value, outcome: { invocation_id: id, turn }, invocationId }) {
    const what = `${stage} of ${text} gave ${JSON.stringify(turn)}`;
    must(id === invocationId, `${text} is ${id} and not ${invocationId}`);
    const second = says.question(text, "second");
    if (stage === "first") {
      must(turn.outcome === "suspended", what);
      sameTexts(what, turn.pending_messages, [second]);
    } else {
      must(turn.outcome === "completed", what);
      sameTexts(what, turn.replies, [...(stage === "second" ? [second] : []), says.done(text, value)]);
    }
  }

  /** A process remembers which signals it has answered. The next one only knows the last that an invocation has waited for. */
  async #checkOver({ stage, entry: { signalId, invocationId, tried }, isKnownHere, outcome }) {
    must(
      outcome.error_category === "harness_signal_correlation_failed" &&
        stage === "first" &&
        tried.length > 1 &&
        !isKnownHere,
      `${signalId} gave ${JSON.stringify(outcome)}`,
    );
    const { suspended } = await this.#world.pending(this.ledger.sessionId);
    const isOver = suspended.every((each) => each.signal_descriptor.signal_id !== signalId);
    must(isOver, `${signalId} cannot be answered, and ${invocationId} waits for it`);
  }

  /** Answers what waits and is not known to it: what was suspended by a sending that was not acknowledged. */
  async answerStrangers() {
    const { sends, sessionId } = this.ledger;
    const { suspended } = await this.#world.pending(sessionId);
    for (const { invocation_id: invocationId, signal_descriptor: descriptor } of suspended) {
      const { topic: text, stage } = descriptor.metadata;
      must(
        sends.some((each) => each.text === text && each.tried > 1),
        `${sessionId}: ${descriptor.signal_id} waits, and ${text} was sent once at most`,
      );
      await this.#signal({ text, stage, invocationId });
    }
  }
}
