import { createBoundedFetch } from "@harnesskit/mcp-agent";
import {
  type Channel,
  type ChannelHandlers,
  type CloseReason,
  ConnectionClosedError,
  callSafely,
  createDeferred,
  HarnessError,
  TransportError,
} from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import {
  type JSONRPCMessage,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

const endSessionMs = 1000;

export interface HttpChannelOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  /** What went wrong without an end of the channel. For a log. */
  readonly onNote: (line: string) => void;
}

const failureReason = (error: unknown): string => {
  if (error instanceof SdkHttpError) return `the MCP server answered with HTTP status ${error.status}`;
  if (HarnessError.isInstance(error)) return error.message;
  return "the MCP server cannot be reached";
};

/** An MCP server on Streamable HTTP as a channel. An answer that breaks off closes it; a request that is refused rejects in `send`. */
export const createHttpChannel = ({ url, headers, maxMessageBytes, onNote }: HttpChannelOptions): Channel => {
  const closed = createDeferred<CloseReason>();
  const abort = new AbortController();
  let handlers: ChannelHandlers | undefined;
  let initializeId: unknown;
  let closing: Promise<void> | undefined;
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: createBoundedFetch({
      maxMessageBytes,
      onBroken: (method, error) => {
        if (method === "GET") onNote("the stream of notices broke off");
        else void channel.close(new TransportError(`an answer broke off: ${failureReason(error)}`));
      },
    }),
  });
  transport.onmessage = (message: JSONRPCMessage) => {
    if (initializeId !== undefined && "id" in message && message.id === initializeId && "result" in message) {
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === "string") transport.setProtocolVersion(protocolVersion);
      initializeId = undefined;
    }
    callSafely(() => handlers?.message(message));
  };
  transport.onerror = (error) => onNote(failureReason(error));
  const end = async (error: HarnessError | undefined): Promise<void> => {
    abort.abort();
    await settleWithin(transport.terminateSession(), {
      name: "the end of the session",
      timeoutMs: endSessionMs,
    });
    await transport.close().catch(() => {});
    const reason: CloseReason = error === undefined ? {} : { error };
    callSafely(() => handlers?.close(reason));
    closed.resolve(reason);
  };
  const channel: Channel = {
    start(given) {
      handlers = given;
      void transport.start();
    },
    async send(message) {
      if (closing !== undefined) throw new ConnectionClosedError();
      if (isObject(message) && message.method === "initialize") initializeId = message.id;
      try {
        await transport.send(message as JSONRPCMessage);
      } catch (cause) {
        throw new TransportError(failureReason(cause), { cause });
      }
    },
    close(error) {
      closing ??= end(error);
      return closing;
    },
    closed: closed.promise,
    signal: abort.signal,
    context: undefined,
  };
  return channel;
};
