import type { AcpCall, AcpToolCall } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { AcpPeers } from "./acp-peers.ts";
import { say } from "./acp-peers.ts";

const waiting = "harness guard: waiting for a decision; an approval may be pending in the hub's inbox";

/** A text among the content of a tool call. */
export const textContent = (text: string): JsonObject => ({
  type: "content",
  content: { type: "text", text },
});

/** Shows the editor's user a tool call about which the guard decides: the agent's question does not reach the editor. */
export class EditorNotes {
  readonly #peers: AcpPeers;
  readonly #call: AcpCall;
  readonly #toolCall: AcpToolCall & JsonObject;
  #isKnown: boolean;
  #cancelTimer = () => {};

  constructor(peers: AcpPeers, call: AcpCall, isKnown: boolean) {
    this.#peers = peers;
    this.#call = call;
    this.#toolCall = call.params.toolCall as unknown as AcpToolCall & JsonObject;
    this.#isKnown = isKnown;
  }

  /** Shows the call, and after a while that it waits. */
  start(): void {
    const { clock, limits } = this.#peers;
    if (!this.#isKnown) this.#send({});
    this.#cancelTimer = clock.after(limits.progressAfterMs, () => this.#say(waiting, "pending"));
  }

  /** It was decided. */
  stop(): void {
    this.#cancelTimer();
  }

  refused(reason: string): void {
    this.stop();
    this.#say(`harness guard: ${reason}`, "failed");
  }

  #say(text: string, status: string): void {
    const { content } = this.#toolCall;
    const before: JsonValue[] = Array.isArray(content) ? content : [];
    this.#send({ status, content: [...before, textContent(text)] });
  }

  #send(more: JsonObject): void {
    const { toolCallId, title } = this.#toolCall;
    const update = this.#isKnown
      ? { sessionUpdate: "tool_call_update", toolCallId, ...more }
      : {
          ...this.#toolCall,
          sessionUpdate: "tool_call",
          title: typeof title === "string" ? title : "a tool call",
          ...more,
        };
    this.#isKnown = true;
    const params = { sessionId: this.#call.sessionId, update: update as JsonObject };
    void say(this.#peers.editor, { jsonrpc: "2.0", method: "session/update", params });
  }
}
