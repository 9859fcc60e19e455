import type { AgentToolStream } from "@harnesskit/protocol/runtime";
import type { Call } from "./call.ts";
import type { StreamChunk } from "./call-stream.ts";
import type { CoreContext } from "./core-context.ts";
import { measureJson } from "./measure-json.ts";
import { redactedJson } from "./redacted-json.ts";

/**
 * Gives a stream message to its call. A number that came before, a chunk after `done` and a chunk for a call that is
 * unknown or over are dropped and counted; after a gap in the numbers the chunk says how many are missing. What looks
 * like a secret is taken out. Returns false when no call waits for the chunk.
 */
export const takeChunk = (
  call: Call | undefined,
  payload: AgentToolStream["payload"],
  { stats, redactor, limits }: Pick<CoreContext, "stats" | "redactor" | "limits">,
): boolean => {
  if (!call || call.settled || call.streamDone) {
    stats.strayChunks++;
    return false;
  }
  const { seq, channel, data, done } = payload;
  if (seq <= call.lastSeq) {
    stats.repeatedChunks++;
    return true;
  }
  const missing = seq - call.lastSeq - 1;
  if (missing > 0) stats.chunkGaps++;
  call.lastSeq = seq;
  if (done) call.streamDone = true;
  const size = "text" in data ? 2 * data.text.length : (measureJson(data.json)?.bytes ?? 0);
  if (size > limits.maxStreamBytes) {
    // No reader could get it, and to look it through for secrets would take long.
    stats.droppedChunks += call.stream.drop();
    return true;
  }
  const chunk: StreamChunk = {
    seq,
    channel,
    data:
      channel === "partial_result"
        ? { json: redactedJson(data.json, redactor) }
        : { text: redactor.text(data.text) },
    ...(done && { done }),
    ...(missing > 0 && { missing }),
  };
  const bytes = "text" in chunk.data ? 2 * chunk.data.text.length : (measureJson(chunk.data)?.bytes ?? 0);
  stats.droppedChunks += call.stream.push(chunk, bytes);
  return true;
};
