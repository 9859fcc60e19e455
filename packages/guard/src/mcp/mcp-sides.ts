import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  HarnessError,
  InvalidMessageError,
  JsonLine,
} from "@harnesskit/wire";
import { editedLine, exactLine, readDroppedLine } from "../proxy/exact-line.ts";
import type { ProxyLimits } from "../proxy/limits.ts";
import { isRpcId, type RpcMessage, rpcError } from "../proxy/rpc-message.ts";

const { InternalError, InvalidRequest, ParseError } = JsonRpcErrorCode;

export interface McpSidesOptions {
  readonly client: Channel;
  readonly server: Channel;
  readonly limits: ProxyLimits;
  readonly onNote: ((line: string) => void) | undefined;
}

/** The two sides of an MCP proxy: what is sent to the client, and what either sends that is not valid. */
export class McpSides {
  readonly #options: McpSidesOptions;
  #invalid = 0;

  constructor(options: McpSidesOptions) {
    this.#options = options;
  }

  /** Sends to the client a message of ours, or a line as it is; a client that is gone needs nothing any more. */
  async reply(sent: RpcMessage | JsonLine): Promise<void> {
    const line = sent instanceof JsonLine ? sent : exactLine(sent);
    const message = line.value as RpcMessage;
    try {
      await this.#options.client.send(line);
    } catch (error) {
      if (ConnectionClosedError.isInstance(error)) return;
      const text = HarnessError.isInstance(error) ? error.message : "it could not be sent";
      this.note(`a message to the client was dropped: ${text}`);
      if (message.method === undefined && isRpcId(message.id) && message.error === undefined) {
        await this.reply(rpcError(message.id, InternalError, text));
      }
    }
  }

  /** A message that is not valid; after too many the side is disconnected. */
  fault(side: "client" | "server", error: HarnessError): void {
    this.#invalid++;
    if (this.#invalid <= 5) this.note(`the ${side} sent what is not a message: ${error.message}`);
    if (this.#invalid === this.#options.limits.maxInvalidMessages) void this.#options[side].close(error);
  }

  /** What the client sent is not valid: it gets an error, for its request where that is known. */
  clientFault(error: HarnessError): Promise<void> | undefined {
    this.fault("client", error);
    const dropped = readDroppedLine(error);
    if (dropped?.isAnswer) return undefined;
    const code = InvalidMessageError.isInstance(error) ? ParseError : InvalidRequest;
    return this.reply(rpcError(dropped?.id ?? null, code, error.message));
  }

  /** Refuses a request of the client's whose id could be mistaken for another one; the answer repeats it with all its digits. */
  refuseId(line: JsonLine, problem: string): Promise<void> {
    const refusal = ({ id }: RpcMessage) => rpcError(isRpcId(id) ? id : null, InvalidRequest, problem);
    return this.reply(editedLine(line, refusal));
  }

  /** Sends the client an answer that is made first, or the error why it is not. */
  async replyWith({ id = null }: RpcMessage, made: Promise<JsonLine>, failure: string): Promise<void> {
    try {
      await this.reply(await made);
    } catch (error) {
      const text = HarnessError.isInstance(error) ? error.message : failure;
      this.note(text);
      await this.reply(rpcError(id, InternalError, text));
    }
  }

  /** What the user should know. */
  note(line: string): void {
    callSafely(() => this.#options.onNote?.(line));
  }
}
