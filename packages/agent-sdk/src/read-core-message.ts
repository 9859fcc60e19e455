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

/** A message that breaks the protocol. */
export interface Violation {
  readonly code: RuntimeErrorCode;
  readonly problem: string;
  readonly id?: string | undefined;
}

/** What arrived, after it was judged. */
export type CoreReading =
  | { readonly kind: "message"; readonly message: CoreMessage }
  | { readonly kind: "refusal"; readonly message: CoreRefusal }
  | { readonly kind: "unknown"; readonly envelope: RuntimeEnvelope }
  | { readonly kind: "invalid"; readonly violation: Violation };

const broken = (code: RuntimeErrorCode, problem: string, id?: string): CoreReading => ({
  kind: "invalid",
  violation: { code, problem, id },
});

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
  const envelope = RuntimeEnvelopeSchema.safeParse(value).data;
  if (!envelope) return broken(RuntimeErrorCode.InvalidMessage, "the core sent an invalid message");
  if (envelope.v !== RUNTIME_PROTOCOL_VERSION) {
    const problem = "the core sent a message of another version than was agreed";
    return broken(RuntimeErrorCode.UnsupportedVersion, problem, envelope.id);
  }
  if (message) return { kind: "message", message };
  if (!isCoreType(type)) return { kind: "unknown", envelope };
  const problem = `the core sent a ${type} that does not match its schema`;
  return broken(RuntimeErrorCode.InvalidMessage, problem, envelope.id);
};
