import type * as z from "zod";
import {
  AgentToolCancelAckSchema,
  AgentToolResultSchema,
  AgentToolStreamSchema,
  CoreToolCallSchema,
  CoreToolCancelSchema,
} from "./calls.ts";
import {
  AgentErrorSchema,
  AgentHeartbeatSchema,
  AgentHelloSchema,
  AgentPongSchema,
  CoreErrorSchema,
  CoreGoodbyeSchema,
  CorePingSchema,
  CoreWelcomeSchema,
} from "./session.ts";
import {
  AgentToolsRegisterSchema,
  AgentToolsUnregisterSchema,
  CoreToolsRegisteredSchema,
  CoreToolsUnregisteredSchema,
} from "./tools.ts";

/** What an agent sends, by type (section 4). */
export const agentMessages = {
  "agent.hello": AgentHelloSchema,
  "agent.tools.register": AgentToolsRegisterSchema,
  "agent.tools.unregister": AgentToolsUnregisterSchema,
  "agent.tool.stream": AgentToolStreamSchema,
  "agent.tool.result": AgentToolResultSchema,
  "agent.tool.cancel_ack": AgentToolCancelAckSchema,
  "agent.heartbeat": AgentHeartbeatSchema,
  "agent.pong": AgentPongSchema,
  "agent.error": AgentErrorSchema,
} as const;

/** What a core sends, by type (section 4). A `core.welcome` with an `error` is a {@link CoreRefusal}. */
export const coreMessages = {
  "core.welcome": CoreWelcomeSchema,
  "core.goodbye": CoreGoodbyeSchema,
  "core.tools.registered": CoreToolsRegisteredSchema,
  "core.tools.unregistered": CoreToolsUnregisteredSchema,
  "core.tool.call": CoreToolCallSchema,
  "core.tool.cancel": CoreToolCancelSchema,
  "core.ping": CorePingSchema,
  "core.error": CoreErrorSchema,
} as const;

export type AgentMessageType = keyof typeof agentMessages;
export type CoreMessageType = keyof typeof coreMessages;

/** The message of type `T`, from either side. */
export type RuntimeMessageOf<T extends AgentMessageType | CoreMessageType> = z.infer<
  (typeof agentMessages & typeof coreMessages)[T]
>;

/** Any message of an agent. */
export type AgentMessage = { [T in AgentMessageType]: RuntimeMessageOf<T> }[AgentMessageType];

/** Any message of a core but a refusal. */
export type CoreMessage = { [T in CoreMessageType]: RuntimeMessageOf<T> }[CoreMessageType];
