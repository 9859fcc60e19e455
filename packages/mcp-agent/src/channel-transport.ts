import { type Channel, HarnessError, InvalidMessageError } from "@harnesskit/wire";
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/client";
import { readMessage } from "./read-message.ts";

export interface ChannelTransportOptions {
  /** The channel's own limit of one message. */
  readonly maxMessageBytes: number;
  /** Messages that are not valid, after which the channel is closed. */
  readonly maxInvalidMessages: number;
  readonly onFault: (error: HarnessError) => void;
  /** The server answers `server/discover` after it was taken for one of an earlier revision. */
  readonly onDiscovered: (result: unknown) => void;
  /** Called once, with the reason if the channel was not closed in good order. */
  readonly onClosed: (error: HarnessError | undefined) => void;
}

const isTooDeep = (error: HarnessError): boolean =>
  InvalidMessageError.isInstance(error) && error.reason === "too_deep";

/**
 * The requests that wait for an answer. Whose answer was dropped because it was too large, cannot be read any more: it is of
 * the one that is left when the others have theirs.
 */
class Waiting {
  readonly #ids = new Map<string, RequestId>();
  #suspects = new Map<string, RequestId>();
  #dropped = 0;
  #givenUp: ReadonlyMap<string, RequestId> = new Map();

  sent(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    const { method, params } = message;
    if ("id" in message) {
      // The question whether the server speaks 2026-07-28, if it still waits.
      if (method === "initialize") this.#giveUp();
      // What has changed is said for as long as the connection lasts.
      if (method !== "subscriptions/listen") this.#ids.set(String(message.id), message.id);
    } else if (method === "notifications/cancelled") this.settled(params?.requestId);
  }

  settled(id: unknown): void {
    this.#ids.delete(String(id));
    this.#suspects.delete(String(id));
  }

  #giveUp(): void {
    this.#givenUp = new Map(this.#ids);
    for (const id of this.#givenUp.keys()) this.settled(id);
  }

  /** Whether it answers a question that was given up. */
  isLate(id: unknown): boolean {
    return this.#givenUp.has(String(id));
  }

  dropped(): void {
    this.#dropped++;
    this.#suspects = new Map(this.#ids);
  }

  /** The requests that get no answer any more, once it is known which they are. */
  takeLost(): RequestId[] {
    if (this.#dropped === 0 || this.#suspects.size > this.#dropped) return [];
    const lost = [...this.#suspects.values()];
    for (const id of lost) this.settled(id);
    this.#dropped = 0;
    return lost;
  }
}

/** The error in place of an answer that cannot be read, or does not come. */
export const lostAnswer = (id: RequestId, message: string): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code: ProtocolErrorCode.InternalError, message, data: { may_have_run: true } },
});

/** How deep an answer may nest whose call is to have its end by its id; what a core takes is less. */
export const maxAnswerDepth = 1024;

/** A channel, with its limits, as what the SDK of MCP speaks on. */
export const channelTransport = (
  channel: Channel,
  options: ChannelTransportOptions,
): Transport & { readonly pid: undefined; readonly stderr: undefined } => {
  const waiting = new Waiting();
  const lostText = `the answer exceeds the limit of ${options.maxMessageBytes} bytes, or of ${maxAnswerDepth} levels`;
  let invalid = 0;
  const fault = (error: HarnessError) => {
    options.onFault(error);
    if (++invalid === options.maxInvalidMessages) {
      const text = `${invalid} messages of the server were not valid`;
      void channel.close(new HarnessError("invalid_message", text));
    } else if (error.code === "frame_too_large" || isTooDeep(error)) {
      waiting.dropped();
      failLost();
    }
  };
  const failLost = () => {
    for (const id of waiting.takeLost()) transport.onmessage?.(lostAnswer(id, lostText));
  };
  const take = (value: unknown) => {
    const message = readMessage(value);
    if (!message) {
      fault(new HarnessError("invalid_message", "the server sent JSON that is not a message of JSON-RPC"));
      return;
    }
    if (!("method" in message)) {
      if (waiting.isLate(message.id)) {
        options.onDiscovered("result" in message ? message.result : undefined);
        return;
      }
      waiting.settled(message.id);
    }
    transport.onmessage?.(message);
    failLost();
  };
  const transport: ReturnType<typeof channelTransport> = {
    // By these two the SDK takes it for a program's streams, whose silence on `server/discover` is that of an old server.
    pid: undefined,
    stderr: undefined,
    async start() {
      channel.start({
        message(value) {
          // Servers of 2025-03-26 may answer in batches.
          if (Array.isArray(value) && value.length > 0) value.forEach(take);
          else take(value);
        },
        error: fault,
        close({ error }) {
          options.onClosed(error);
          transport.onclose?.();
        },
      });
    },
    send(message: JSONRPCMessage) {
      waiting.sent(message);
      return channel.send(message);
    },
    close: () => channel.close(),
  };
  return transport;
};
