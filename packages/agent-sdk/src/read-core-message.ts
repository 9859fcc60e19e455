import {
  type CoreMessage,
  type CoreRefusal,
  CoreRefusalSchema,
  coreMessages,
  isUsualCall,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeEnvelope,
  RuntimeEnvelopeSchema,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { isObject } from "@harnesskit/wire/json";

/** What arrived, after it was judged. */
type CoreReading =
  | { readonly kind: "message"; readonly message: CoreMessage }
  | { readonly kind: "refusal"; readonly message: CoreRefusal }
  | { readonly kind: "unknown"; readonly envelope: RuntimeEnvelope }
  /** It breaks the protocol. */
  | {
      readonly kind: "invalid";
      readonly code: RuntimeErrorCode;
      readonly problem: string;
      readonly id?: string | undefined;
    };

const isCoreType = (type: unknown): type is keyof typeof coreMessages =>
  typeof type === "string" && Object.hasOwn(coreMessages, type);

/** Reads any message of a core: checks it against its schema, once. Never throws. */
export const readCoreMessage = (value: unknown): CoreReading => {
  if (isUsualCall(value)) return { kind: "message", message: value };
  const type = isObject(value) ? value.type : undefined;
  const message = isCoreType(type) ? coreMessages[type].safeParse(value).data : undefined;
  if (message && !(message.type === "core.welcome" && message.error)) return { kind: "message", message };
  const refusal = type === "core.welcome" ? CoreRefusalSchema.safeParse(value).data : undefined;
  if (refusal) return { kind: "refusal", message: refusal };
  const { InvalidMessage, UnsupportedVersion } = RuntimeErrorCode;
  const envelope = RuntimeEnvelopeSchema.safeParse(value).data;
  if (!envelope) {
    return { kind: "invalid", code: InvalidMessage, problem: "the core sent an invalid message" };
  }
  const { id, v } = envelope;
  if (v !== RUNTIME_PROTOCOL_VERSION) {
    const problem = "the core sent a message of another version than was agreed";
    return { kind: "invalid", code: UnsupportedVersion, problem, id };
  }
  if (message) return { kind: "message", message };
  if (!isCoreType(type)) return { kind: "unknown", envelope };
  const problem = `the core sent a ${type} that does not match its schema`;
  return { kind: "invalid", code: InvalidMessage, problem, id };
};
