import { type Channel, HarnessError } from "@harnesskit/wire";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";

export interface ChannelTransportOptions {
  /** Messages that are not valid, after which the channel is closed. */
  readonly maxInvalidMessages: number;
  readonly onFault: (error: HarnessError) => void;
  /** Called once, with the reason if the channel was not closed in good order. */
  readonly onClosed: (error: HarnessError | undefined) => void;
}

/** A channel, with its limits, as what the SDK of MCP speaks on. */
export const channelTransport = (channel: Channel, options: ChannelTransportOptions): Transport => {
  let invalid = 0;
  const fault = (error: HarnessError) => {
    // It may have been the answer of a call, which then has none any more; whose answer, cannot be told.
    if (error.code === "frame_too_large") {
      void channel.close(error);
      return;
    }
    options.onFault(error);
    if (++invalid !== options.maxInvalidMessages) return;
    const text = `${invalid} messages of the server were not valid`;
    void channel.close(new HarnessError("invalid_message", text));
  };
  const transport: Transport = {
    async start() {
      channel.start({
        message(value) {
          const { data: message } = JSONRPCMessageSchema.safeParse(value);
          if (message) transport.onmessage?.(message);
          else
            fault(
              new HarnessError("invalid_message", "the server sent JSON that is not a message of JSON-RPC"),
            );
        },
        error: fault,
        close({ error }) {
          options.onClosed(error);
          transport.onclose?.();
        },
      });
    },
    send: (message: JSONRPCMessage) => channel.send(message),
    close: () => channel.close(),
  };
  return transport;
};
