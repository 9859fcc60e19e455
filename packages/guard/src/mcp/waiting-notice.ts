import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import type { ProxyLimits } from "../proxy/limits.ts";
import { objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ActionRuling } from "../proxy/rulings.ts";
import type { ToolCall } from "./tool-call.ts";

const waiting = "waiting for a decision: an approval may be pending in the hub's inbox";
const prefix = "harness-guard-approval-";

/** What a client declares of itself in each request since the revision of 2026-07-28; undefined for an older one. */
const capabilitiesOf = ({ meta }: ToolCall): JsonObject | undefined => {
  const declared = meta["io.modelcontextprotocol/clientCapabilities"];
  return declared === undefined ? undefined : objectOf(declared);
};

const opensUrls = (capabilities: JsonObject | undefined): boolean =>
  objectOf(capabilities?.elicitation).url !== undefined;

export interface WaitingNoticeOptions {
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly send: (message: RpcMessage) => Promise<void>;
  /** Where approvals are answered, without a secret in it; undefined where that is not known. */
  readonly approvalUrl: (() => Promise<string | undefined>) | undefined;
}

/** Tells a client that a call waits: by progress, and with the address of the inbox where it opens addresses for its user. */
export class WaitingNotice {
  readonly #options: WaitingNoticeOptions;
  /** What the client declared in `initialize`. */
  #declared: JsonObject | undefined;

  constructor(options: WaitingNoticeOptions) {
    this.#options = options;
  }

  /** The client's `initialize`. */
  noteInitialize({ params }: RpcMessage): void {
    this.#declared = objectOf(objectOf(params).capabilities);
  }

  /** The answer of the client to a question of this proxy: not for the server. */
  isOwn({ id, method }: RpcMessage): boolean {
    return method === undefined && typeof id === "string" && id.startsWith(prefix);
  }

  /** Whether the call is repeated after {@link inputRequired}. */
  isRepeated({ params }: ToolCall): boolean {
    return typeof params.requestState === "string" && params.requestState.startsWith(prefix);
  }

  /**
   * How long a call may be held, in milliseconds. A client that did not ask for progress may give up after a minute; one that can be sent to the
   * inbox is, soon.
   */
  holdMs(call: ToolCall): number {
    const { holdMs, quietHoldMs, progressAfterMs } = this.#options.limits;
    if (this.#takesInput(call) && !this.isRepeated(call)) return Math.min(holdMs, progressAfterMs);
    return call.meta.progressToken === undefined ? Math.min(holdMs, quietHoldMs) : holdMs;
  }

  /**
   * For a call that waits longer: the result that has the client show the address and repeat its call (revision 2026-07-28). Undefined for any
   * other call.
   */
  async inputRequired(call: ToolCall, ruling: ActionRuling): Promise<RpcMessage | undefined> {
    if (ruling.ruling !== "refuse" || !ruling.isPending || !this.#takesInput(call)) return undefined;
    const { id } = call;
    const params = await this.#elicitation(ruling.reason);
    if (params === undefined) return undefined;
    const result = {
      resultType: "input_required",
      inputRequests: { approval: { method: "elicitation/create", params } },
      // Holds no right: the repeated call is decided anew, and finds the approval by its content.
      requestState: `${prefix}${randomUUID()}`,
    };
    return { jsonrpc: "2.0", id, result };
  }

  /** Begins for a call. Returns what ends it. */
  start(call: ToolCall, signal: AbortSignal): () => void {
    const { progressToken } = call.meta;
    // A client of the newest revision takes no requests.
    const mayAsk = capabilitiesOf(call) === undefined && opensUrls(this.#declared);
    if (progressToken === undefined && !mayAsk) return () => {};
    const { clock, limits, send } = this.#options;
    let cancel = () => {};
    let count = 0;
    let asked: Promise<string | undefined> | undefined;
    const after = (delayMs: number): void => {
      cancel = clock.after(delayMs, () => {
        if (signal.aborted) return;
        // It must grow, and stay below what the server may send later.
        const progress = ++count / 1_000_000;
        const params = { progressToken: progressToken ?? null, progress, message: waiting };
        if (progressToken !== undefined) {
          void send({ jsonrpc: "2.0", method: "notifications/progress", params });
        }
        if (mayAsk) asked ??= this.#ask();
        after(limits.progressEveryMs);
      });
    };
    after(limits.progressAfterMs);
    return () => {
      cancel();
      void asked?.then((elicitationId) => {
        if (elicitationId === undefined) return;
        void send({
          jsonrpc: "2.0",
          method: "notifications/elicitation/complete",
          params: { elicitationId },
        });
      });
    };
  }

  #takesInput(call: ToolCall): boolean {
    return this.#options.approvalUrl !== undefined && opensUrls(capabilitiesOf(call));
  }

  async #ask(): Promise<string | undefined> {
    const params = await this.#elicitation(waiting);
    if (params === undefined) return undefined;
    const { elicitationId } = params;
    await this.#options.send({ jsonrpc: "2.0", id: elicitationId, method: "elicitation/create", params });
    return elicitationId;
  }

  async #elicitation(message: string) {
    const url = await this.#options.approvalUrl?.().catch(() => undefined);
    if (url === undefined) return undefined;
    return { mode: "url", message, url, elicitationId: `${prefix}${randomUUID()}` };
  }
}
