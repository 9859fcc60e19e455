import { createBoundedFetch, refuseLegacySse } from "@harnesskit/mcp-agent";
import {
  type Channel,
  type ChannelHandlers,
  type CloseReason,
  ConnectionClosedError,
  callSafely,
  createDeferred,
  FrameTooLargeError,
  HarnessError,
  JsonLine,
  TransportError,
} from "@harnesskit/wire";
import { isObject, markNumbers, unmarkNumbers } from "@harnesskit/wire/json";
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

/** Since the revision of 2026-07-28, which states itself in each request, a call is cancelled by closing its response. */
const endsByClosing = ({ params }: Readonly<Record<string, unknown>>): boolean =>
  isObject(params) &&
  isObject(params._meta) &&
  params._meta["io.modelcontextprotocol/protocolVersion"] !== undefined;

/**
 * An MCP server on Streamable HTTP as a channel of lines whose numbers keep their digits. An answer over the limit is an error of its request,
 * one that breaks off closes the channel; a request that is refused rejects in `send`. The cancellation of a request of 2026-07-28 closes its
 * response.
 */
export const createHttpChannel = ({ url, headers, maxMessageBytes, onNote }: HttpChannelOptions): Channel => {
  const closed = createDeferred<CloseReason>();
  const abort = new AbortController();
  let handlers: ChannelHandlers | undefined;
  let initializeId: unknown;
  let closing: Promise<void> | undefined;
  /** Requests without an answer yet that end by closing their response, by id. */
  const open = new Map<unknown, AbortController>();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch(url, init) {
      const text = typeof init?.body === "string" ? unmarkNumbers(init.body) : undefined;
      const send = createBoundedFetch({
        maxMessageBytes,
        rewrite: markNumbers,
        onBroken: (method, error) => {
          if (method === "GET") onNote("the stream of notices broke off");
          else if (HarnessError.isInstance(error) && error.code === "frame_too_large") tooLarge(text);
          else void channel.close(new TransportError(`an answer broke off: ${failureReason(error)}`));
        },
      });
      return refuseLegacySse(send)(url, text === undefined ? init : { ...init, body: text });
    },
  });
  /** The answer to a request is over the limit: the request's error. */
  const tooLarge = (request: string | undefined): void => {
    const { id, method } = JSON.parse(request ?? "{}") as { id?: unknown; method?: unknown };
    if (id === undefined || method === undefined) return;
    const begin = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
    const error = new FrameTooLargeError(maxMessageBytes, { first: begin, last: "" });
    callSafely(() => handlers?.error(error));
  };
  transport.onmessage = (marked: JSONRPCMessage) => {
    const text = unmarkNumbers(JSON.stringify(marked));
    const message = JSON.parse(text) as JSONRPCMessage;
    if (initializeId !== undefined && "id" in message && message.id === initializeId && "result" in message) {
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === "string") transport.setProtocolVersion(protocolVersion);
      initializeId = undefined;
    }
    if (!("method" in message)) open.delete(message.id);
    callSafely(() => handlers?.message(new JsonLine(text, message)));
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
    async send(line) {
      if (closing !== undefined) throw new ConnectionClosedError();
      const message: unknown = line instanceof JsonLine ? JSON.parse(markNumbers(line.text)) : line;
      const { id, method, params } = isObject(message) ? message : {};
      if (method === "initialize") initializeId = id;
      const cancelled =
        method === "notifications/cancelled" && isObject(params) && open.get(params.requestId);
      if (cancelled) return cancelled.abort();
      const request = new AbortController();
      const close = { requestSignal: request.signal, onRequestStreamEnd: () => void open.delete(id) };
      const isClosable = id !== undefined && isObject(message) && endsByClosing(message);
      if (isClosable) open.set(id, request);
      try {
        await transport.send(message as JSONRPCMessage, isClosable ? close : {});
      } catch (cause) {
        open.delete(id);
        if (!request.signal.aborted) throw new TransportError(failureReason(cause), { cause });
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
