import { must } from "../crash/violation.mjs";

/** Codes of calls that no agent got. */
const unsent = new Set(["agent.unavailable", "tool.not_found"]);

/** Every call of a story: what its caller received, what the log says, and how often a tool ran for it. */
export class Calls {
  #all = new Map();

  /** A call of this core life. */
  add({ requestId, life, toolId, cell }) {
    const call = { requestId, life, toolId, cell, callId: undefined, told: [], chunks: 0, code: undefined };
    this.#all.set(requestId, call);
    return call;
  }

  hear({ type, requestId, callId, code }) {
    const call = this.#all.get(requestId);
    must(call !== undefined, `${requestId}: received ${type} for a call that was never made`);
    must((call.callId ?? callId) === callId || type === "chunk", `${requestId}: its call id changed`);
    if (type === "chunk") call.chunks += 1;
    else call.callId = callId;
    if (type === "settled") call.told.push(code);
    must(call.told.length <= 1, `${requestId}: it was settled twice: ${call.told.join(", ")}`);
  }

  /** The calls of a life that their caller still waits for. */
  openOf(life) {
    return [...this.#all.values()].filter((call) => call.life === life && call.told.length === 0);
  }

  /**
   * Every call of a life that is over has exactly one end, which is returned in `code` of the call: what its caller was
   * told, or, of a core that was killed, what its log says.
   */
  settle({ life, entries, ran }) {
    const wasKilled = life.end.signal === "SIGKILL";
    const calls = [...this.#all.values()].filter((call) => call.life === life);
    for (const call of calls) {
      const about = entries.filter((entry) => entry.request_id === call.requestId);
      const times = ran.get(call.requestId) ?? 0;
      call.code = codeOf(call, about, wasKilled) ?? (times > 0 ? "unrecorded" : "never begun");
      must(times <= 1, `${call.requestId} (${call.toolId}) ran ${times} times`);
      if (call.code === "succeeded") must(times === 1, `${call.requestId} succeeded and ran ${times} times`);
      if (unsent.has(call.code)) must(times === 0, `${call.requestId} is ${call.code}, and the tool ran`);
    }
    return calls;
  }

  /** The log contains only calls that were made. */
  checkLog(entries) {
    for (const { action, request_id: requestId, seq } of entries) {
      if (action === "tool.call" || action === "tool.result")
        must(this.#all.has(requestId), `the log's entry ${seq} (${action}) belongs to no call: ${requestId}`);
    }
  }
}

/** Undefined for a call that a core was killed with before it said that it took it. */
const codeOf = ({ requestId, callId, told: [told] }, entries, wasKilled) => {
  const starts = entries.filter(({ action }) => action === "tool.call");
  const ends = entries.filter(({ outcome }) => outcome !== undefined);
  must(starts.length <= 1, `${requestId}: ${starts.length} starts in the log`);
  must(ends.length <= 1, `${requestId}: ${ends.length} ends in the log`);
  for (const entry of entries) {
    must(
      (callId ?? entry.call_id) === entry.call_id,
      `${requestId}: the log has the call id ${entry.call_id}`,
    );
  }
  const [end] = ends;
  const logged = end && (end.outcome === "ok" ? "succeeded" : end.details.code);
  if (told !== undefined) {
    must(logged === told, `${requestId}: its caller received ${told}, the log says ${logged ?? "nothing"}`);
    return told;
  }
  must(wasKilled, `${requestId}: the core closed and did not tell its caller how it ended (log: ${logged})`);
  if (logged !== undefined) return logged;
  if (starts.length === 1) return "interrupted";
  must(callId === undefined, `${requestId}: it was made, and the log does not know it`);
  return undefined;
};
