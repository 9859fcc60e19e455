import type { CoreToolsRegistered, ToolDeclaration } from "@harnesskit/protocol/runtime";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import {
  type Clock,
  createDeferred,
  type Deferred,
  type HarnessError,
  RequestTimeoutError,
} from "@harnesskit/wire";
import type { RejectedTool } from "./errors.ts";
import { runtimeError } from "./runtime-error.ts";

/** Which tools the core took, by their ids, and why not the others. */
export interface Registration {
  readonly registered: readonly string[];
  readonly rejected: readonly RejectedTool[];
}

export interface RegistrarOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxFrameBytes: number;
  /** Sends one registration; gives the id of its message. */
  readonly send: (tools: readonly object[], bytes: number) => string;
}

/** What a registration costs beside its tools. */
const envelopeBytes = 512;

/** Registers tools and matches the core's answers (section 4.2). */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #pending = new Map<string, Deferred<CoreToolsRegistered["payload"]>>();
  #closed: HarnessError | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /**
   * Registers these tools, in as many messages as their size asks for. A tool that is larger than a frame is rejected
   * here. Rejects with `request_timeout`, with the core's `core.error` and when the connection ends.
   */
  async register(tools: readonly ToolDeclaration[]): Promise<Registration> {
    const maxBytes = this.#options.maxFrameBytes - envelopeBytes;
    const rejected: RejectedTool[] = [];
    const batches: { tools: object[]; bytes: number }[] = [{ tools: [], bytes: 0 }];
    for (const tool of tools) {
      const bytes = Buffer.byteLength(JSON.stringify(tool)) + 1;
      const last = batches.at(-1);
      if (bytes > maxBytes) {
        const error = runtimeError(RuntimeErrorCode.ToolTooLarge, "the declaration exceeds max_frame_bytes");
        rejected.push({ tool_id: tool.tool_id, error });
      } else if (last && last.bytes + bytes <= maxBytes) {
        last.tools.push(tool);
        last.bytes += bytes;
      } else batches.push({ tools: [tool], bytes });
    }
    const answers = await Promise.all(batches.map((batch) => this.#send(batch.tools, batch.bytes)));
    return {
      registered: answers.flatMap(({ registered }) => registered),
      rejected: [...rejected, ...answers.flatMap((answer) => answer.rejected ?? [])],
    };
  }

  /** Takes the core's answer; without `in_reply_to` it belongs to the oldest registration. */
  answer(inReplyTo: string | undefined, payload: CoreToolsRegistered["payload"]): void {
    this.#take(inReplyTo)?.resolve(payload);
  }

  /** Takes an error in place of an answer. False when it belongs to no registration. */
  fail(inReplyTo: string | undefined, error: HarnessError): boolean {
    const pending = inReplyTo === undefined ? undefined : this.#take(inReplyTo);
    pending?.reject(error);
    return pending !== undefined;
  }

  close(error: HarnessError): void {
    this.#closed = error;
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }

  async #send(tools: readonly object[], bytes: number): Promise<CoreToolsRegistered["payload"]> {
    if (this.#closed) throw this.#closed;
    const { clock, timeoutMs, send } = this.#options;
    const pending = createDeferred<CoreToolsRegistered["payload"]>();
    const id = send(tools, bytes + envelopeBytes);
    this.#pending.set(id, pending);
    const cancel = clock.after(timeoutMs, () => {
      this.#pending.delete(id);
      pending.reject(new RequestTimeoutError("agent.tools.register", timeoutMs));
    });
    try {
      return await pending.promise;
    } finally {
      cancel();
    }
  }

  #take(inReplyTo: string | undefined): Deferred<CoreToolsRegistered["payload"]> | undefined {
    const id = inReplyTo ?? this.#pending.keys().next().value;
    if (id === undefined) return undefined;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}
