import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { type Channel, ConnectionClosedError, callSafely, HarnessError } from "@harnesskit/wire";
import type { ProxyLimits } from "../proxy/limits.ts";
import { isRpcId, type RpcMessage, rpcError } from "../proxy/rpc-message.ts";

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

  /** Sends to the client; one that is gone needs nothing any more. */
  async reply(message: RpcMessage): Promise<void> {
    try {
      await this.#options.client.send(message);
    } catch (error) {
      if (ConnectionClosedError.isInstance(error)) return;
      const text = HarnessError.isInstance(error) ? error.message : "it could not be sent";
      this.note(`a message to the client was dropped: ${text}`);
      if (message.method === undefined && isRpcId(message.id) && message.error === undefined) {
        await this.reply(rpcError(message.id, JsonRpcErrorCode.InternalError, text));
      }
    }
  }

  /** A message that is not valid; after too many the side is disconnected. */
  fault(side: "client" | "server", error: HarnessError): void {
    this.#invalid++;
    if (this.#invalid <= 5) this.note(`the ${side} sent what is not a message: ${error.message}`);
    if (this.#invalid === this.#options.limits.maxInvalidMessages) void this.#options[side].close(error);
  }

  /** What the user should know. */
  note(line: string): void {
    callSafely(() => this.#options.onNote?.(line));
  }
}
