import type { ShellRequest } from "@harnesskit/protocol/openharness";
import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  type Exchange,
  HarnessError,
  InvalidArgumentError,
  type StreamExchange,
  type Transport,
} from "@harnesskit/wire";
import { ClientSession, type ReconnectOptions, resolveReconnect } from "@harnesskit/wire/rpc";
import { ChannelConnection, StreamLostError } from "./channel-connection.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import { ExchangeStreams } from "./streaming/exchange-stream.ts";
import { FrameReader } from "./streaming/frame-reader.ts";
import { ResumeAttempts, type StreamCall } from "./streaming/stream-call.ts";

/** What goes with each attempt of a request. */
export interface EngineCall {
  /** `x-request-id`, `x-correlation-id` and `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when no caller waits for the response any more. */
  readonly signal: AbortSignal;
  /** How long the response is waited for, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * One message out, one response back; it may reject. Where it rejects with a `HarnessError` whose `document` is an OpenHarness
 * response with an error, as an HTTP exchange does of a body beside an error status, that error counts.
 */
export type SendToEngine = (message: ShellRequest, call: EngineCall) => Promise<unknown>;

/**
 * The way to the engine: an exchange, as `createHttpExchange` of transport-http makes one, or an engine of the same process;
 * a function of your own; a transport, whose channel is opened by the first request and replaced after a loss; or an open
 * channel that is not started. On channels responses are matched by their `request_id`. A response can be a stream on channels, and
 * over an exchange that has `handleStream`.
 */
export type EngineEndpoint = Exchange<EngineCall> | Transport | Channel | SendToEngine;

/** A way to the engine. */
export interface EngineLine {
  /** Whether a response can be a stream. */
  readonly canStream: boolean;
  /** Sends one message, and resolves with what came back, as it came: with `stream` also what a stream ended with. */
  post(requestId: string, message: ShellRequest, call: EngineCall, stream?: StreamCall): Promise<unknown>;
  /** Closes what belongs to the shell alone. Idempotent. */
  close(): Promise<void>;
}

export interface EngineLineOptions {
  readonly reconnect: false | ReconnectOptions | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly diagnose: (diagnostic: ShellDiagnostic) => void;
}

const isChannel = (engine: object): engine is Channel => "start" in engine && "send" in engine;
const isTransport = (engine: object): engine is Transport => "connect" in engine;
const canStream = (engine: Exchange<EngineCall>): engine is StreamExchange<EngineCall> =>
  "handleStream" in engine;
const isExchange = (engine: object): engine is Exchange<EngineCall> => "handle" in engine;

/** A line over the channels of a transport, or over one channel, whose loss is the end. OpenHarness has no handshake. */
const sessionLine = (engine: Transport | Channel, options: EngineLineOptions): EngineLine => {
  const { clock, timeoutMs, diagnose } = options;
  const reconnect = resolveReconnect(options.reconnect);
  const openChannel = async (signal: AbortSignal): Promise<Channel> => {
    if (!isChannel(engine)) return engine.connect({ signal });
    if (engine.signal.aborted) throw new ConnectionClosedError();
    return engine;
  };
  const session = new ClientSession<ChannelConnection, void>({
    clock,
    reconnect: isChannel(engine) ? undefined : reconnect,
    timeoutMs: () => timeoutMs,
    open: async (signal, onOver) => new ChannelConnection(await openChannel(signal), diagnose, onOver),
    introduce: async () => {},
  });
  const post = async (
    requestId: string,
    message: ShellRequest,
    { signal, timeoutMs: waitMs }: EngineCall,
    reader?: FrameReader,
  ): Promise<unknown> => {
    const { connection } = await session.connect({ signal, timeoutMs: waitMs });
    const response = await connection.post(requestId, message, signal, reader);
    session.confirm(connection);
    return response;
  };
  return {
    canStream: true,
    async post(requestId, message, call, stream) {
      if (!stream) return post(requestId, message, call);
      const reader = new FrameReader(requestId, stream.onFact);
      // Connections are replaced as the session's backoff says.
      const attempts = new ResumeAttempts(reader, stream.backoff);
      do {
        try {
          return await post(requestId, message, call, reader);
        } catch (error) {
          if (error instanceof StreamLostError) break;
          const isCut = HarnessError.isInstance(error) && error.code === "connection_closed";
          if (!isCut || reader.streamId === undefined || call.signal.aborted) throw error;
        }
      } while (attempts.next() !== undefined);
      // The request has the same id, and is done once.
      stream.onFact({ type: "lost" });
      return post(requestId, message, call);
    },
    async close() {
      await session.close();
      if (isChannel(engine)) await engine.close();
    },
  };
};

/** Throws `invalid_argument` for anything else than an endpoint. */
export const toEngineLine = (engine: EngineEndpoint, options: EngineLineOptions): EngineLine => {
  // An exchange, and whatever a function uses, stays its owner's to close.
  const close = async () => {};
  if (typeof engine === "function") {
    return { canStream: false, post: (_id, message, call) => engine(message, call), close };
  }
  if (typeof engine === "object" && engine !== null) {
    // An engine of this process is an exchange, and also accepts channels.
    if (isExchange(engine)) {
      const plain = (message: ShellRequest, call: EngineCall) => engine.handle(message, call);
      if (!canStream(engine))
        return { canStream: false, post: (_id, message, call) => plain(message, call), close };
      const streams = new ExchangeStreams(engine);
      return {
        canStream: true,
        post: (id, message, call, stream) =>
          stream ? streams.post(id, message, call, stream) : plain(message, call),
        close: () => streams.close(),
      };
    }
    if (isChannel(engine) || isTransport(engine)) return sessionLine(engine, options);
  }
  throw new InvalidArgumentError("engine must be an exchange, a transport, a channel or a function");
};
