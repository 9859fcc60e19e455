import type { ShellRequest } from "@harnesskit/protocol/openharness";
import { type Channel, type Exchange, InvalidArgumentError } from "@harnesskit/wire";
import { ChannelLine } from "./channel-line.ts";
import type { EngineCall, EngineEndpoint } from "./engine-endpoint.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";

/** A way to the engine that is open. */
export interface EngineLine {
  /** Sends one message, and resolves with what came back, as it came. */
  post(requestId: string, message: ShellRequest, call: EngineCall): Promise<unknown>;
  /** Closes what belongs to the shell alone. Idempotent. */
  close(): Promise<void>;
}

const isChannel = (engine: object): engine is Channel => "start" in engine && "send" in engine;
const isExchange = (engine: object): engine is Exchange<EngineCall> => "handle" in engine;

/** Throws `invalid_argument` for what is none of the three. */
export const toEngineLine = (
  engine: EngineEndpoint,
  diagnose: (diagnostic: ShellDiagnostic) => void,
): EngineLine => {
  // An exchange, and whatever a function uses, stays its owner's to close.
  const close = async () => {};
  if (typeof engine === "function") return { post: (_id, message, call) => engine(message, call), close };
  if (typeof engine === "object" && engine !== null) {
    if (isChannel(engine)) return new ChannelLine(engine, diagnose);
    if (isExchange(engine)) return { post: (_id, message, call) => engine.handle(message, call), close };
  }
  throw new InvalidArgumentError("engine is an exchange, a channel, or a function");
};
