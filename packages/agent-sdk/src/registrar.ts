import {
  type CoreToolsRegistered,
  RuntimeErrorCode,
  type ToolDeclaration,
} from "@harnesskit/protocol/runtime";
import { createDeferred, type Deferred, type HarnessError } from "@harnesskit/wire";
import { type Clock, within } from "@harnesskit/wire/time";
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
  /** Sends one registration; returns the id of its message. */
  readonly send: (tools: readonly object[], more: boolean, bytes: number) => string;
}

type Answer = CoreToolsRegistered["payload"];

/** What a registration costs beside its tools. */
const envelopeBytes = 512;

/** Registers tools and matches the core's answers (section 4.2). */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #pending = new Map<string, Deferred<Answer>>();
  #closed: HarnessError | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /**
   * Registers these tools, in as many messages as their size requires. A tool that is larger than a frame is rejected
   * here. With `more`, the agent is not ready yet. Rejects with `request_timeout`, with the core's `core.error` and when the connection ends.
   */
  async register(tools: readonly ToolDeclaration[], more = false): Promise<Registration> {
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
    const answers = await Promise.all(
      batches.map((batch, at) => this.#send(batch, more || at < batches.length - 1)),
    );
    return {
      registered: answers.flatMap(({ registered }) => registered),
      rejected: [...rejected, ...answers.flatMap((answer) => answer.rejected ?? [])],
    };
  }

  /** Takes the core's answer; without `in_reply_to` it belongs to the oldest registration. */
  answer(inReplyTo: string | undefined, payload: Answer): void {
    const id = inReplyTo ?? this.#pending.keys().next().value;
    if (id !== undefined) this.#pending.get(id)?.resolve(payload);
  }

  /** Takes an error in place of an answer. Returns false when it belongs to no registration. */
  fail(inReplyTo: string | undefined, error: HarnessError): boolean {
    const pending = this.#pending.get(inReplyTo ?? "");
    pending?.reject(error);
    return pending !== undefined;
  }

  close(error: HarnessError): void {
    this.#closed = error;
    for (const pending of this.#pending.values()) pending.reject(error);
  }

  async #send({ tools, bytes }: { tools: object[]; bytes: number }, more: boolean): Promise<Answer> {
    if (this.#closed) throw this.#closed;
    const { clock, timeoutMs, send } = this.#options;
    const pending = createDeferred<Answer>();
    const id = send(tools, more, bytes + envelopeBytes);
    this.#pending.set(id, pending);
    try {
      return await within(pending.promise, { name: "agent.tools.register", timeoutMs, clock });
    } finally {
      this.#pending.delete(id);
    }
  }
}
