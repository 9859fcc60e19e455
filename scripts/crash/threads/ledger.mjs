import { canonicalJson } from "../../../packages/wire/dist/json.js";
import { must } from "../violation.mjs";

/** What a client received: every notification with its number, and every answer. */
export class Ledger {
  /** Notifications that were compared with the log. */
  checked = 0;
  #heard = [];
  #answered = [];
  #last = new Map();

  /** A new connection: numbers begin anew. */
  beginLife() {
    this.#last.clear();
  }

  /** The thread is replayed after this number. */
  subscribed(threadId, afterSeq) {
    this.#last.set(threadId, afterSeq);
  }

  /** Takes a notification. Within a connection the numbers of a thread only rise. */
  hear({ method, params }) {
    const { seq, time, ...data } = params;
    if (seq === undefined) return;
    const { threadId } = data;
    const last = this.#last.get(threadId) ?? 0;
    must(seq > last, `${threadId}: ${method} seq ${seq} came after seq ${last}`);
    this.#last.set(threadId, seq);
    this.#heard.push({ type: method, seq, time, data });
  }

  /** Notes that the server said yes; `isWritten(events)` finds the proof in the thread's log. */
  answered(what, threadId, isWritten) {
    this.#answered.push({ what, threadId, isWritten });
  }

  /** Everything that was received is in the logs. Entries that were found are not checked again, because logs only grow. */
  check(logs) {
    for (const heard of this.#heard.splice(0)) {
      checkHeard(heard, logs.get(heard.data.threadId) ?? []);
      this.checked += 1;
    }
    for (const { what, threadId, isWritten } of this.#answered.splice(0)) {
      must(isWritten(logs.get(threadId) ?? []), `${threadId}: ${what} was answered and is not in the log`);
    }
  }
}

const checkHeard = ({ type, seq, time, data }, log) => {
  const place = `${data.threadId} seq ${seq}`;
  const written = log[seq - 1];
  must(written !== undefined, `${place}: ${type} was received and is not in the log`);
  must(written.type === type, `${place}: ${type} was received, ${written.type} is in the log`);
  must(written.time === time, `${place}: the time is ${written.time} in the log, not ${time}`);
  if (type === "item.delta") return checkDelta(place, seq, data, log);
  must(
    canonicalJson(written.data) === canonicalJson(data),
    `${place}: ${type} was received as ${canonicalJson(data)}, the log has ${canonicalJson(written.data)}`,
  );
};

/** Consecutive deltas of an item may be sent as one, with the number of the last. */
const checkDelta = (place, seq, data, log) => {
  let text = "";
  for (let index = seq - 1; text.length < data.delta.length && index >= 0; index--) {
    const { type, data: part } = log[index];
    if (type !== "item.delta" || part.itemId !== data.itemId) break;
    text = part.delta + text;
  }
  must(
    text === data.delta,
    `${place}: the delta ${JSON.stringify(data.delta)} was received, not ${JSON.stringify(text)}`,
  );
};

/** What shows in a log that the server has said yes to a request: `(log) => boolean`. */
export const proofOf = (method, params, result) => {
  const { requestId, decision } = params;
  const isDecided = (data) => data?.requestId === requestId && data.decision === decision;
  const isProof = ({ type, data }) => {
    if (method === "thread.create") return type === "thread.created";
    if (method !== "turn.start")
      return (
        (type === "approval.resolved" && isDecided(data)) ||
        (type === "item.completed" && isDecided(data.item.data))
      );
    const isBegin = type === "turn.started" || (type === "turn.queued" && result.queued);
    return isBegin && data.turnId === result.turnId;
  };
  return (log) => log.some(isProof);
};
