import {
  type CoreMessage,
  type CoreRefusal,
  CoreRefusalSchema,
  coreMessages,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeEnvelope,
  RuntimeEnvelopeSchema,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";

/** What arrived, after it was judged. */
export type CoreReading =
  | { readonly kind: "message"; readonly message: CoreMessage }
  | { readonly kind: "refusal"; readonly message: CoreRefusal }
  | { readonly kind: "unknown"; readonly envelope: RuntimeEnvelope }
  | {
      readonly kind: "invalid";
      readonly code: RuntimeErrorCode;
      readonly text: string;
      readonly id?: string;
    };

const isCoreType = (type: string): type is keyof typeof coreMessages => Object.hasOwn(coreMessages, type);

/** Reads any message of a core. Never throws. */
export const readCoreMessage = (value: unknown): CoreReading => {
  const envelope = RuntimeEnvelopeSchema.safeParse(value);
  if (!envelope.success) {
    const text = "the core sent something that is no message";
    return { kind: "invalid", code: RuntimeErrorCode.InvalidMessage, text };
  }
  const { v, type, id, error } = envelope.data;
  if (v !== RUNTIME_PROTOCOL_VERSION) {
    const text = "the core sent a message of another version than was agreed";
    return { kind: "invalid", code: RuntimeErrorCode.UnsupportedVersion, text, id };
  }
  if (!isCoreType(type)) return { kind: "unknown", envelope: envelope.data };
  if (type === "core.welcome" && error !== undefined) {
    const refusal = CoreRefusalSchema.safeParse(value);
    if (refusal.success) return { kind: "refusal", message: refusal.data };
  }
  const message = coreMessages[type].safeParse(value);
  if (message.success) return { kind: "message", message: message.data };
  const text = `the core sent a ${type} whose content does not fit it`;
  return { kind: "invalid", code: RuntimeErrorCode.InvalidMessage, text, id };
};
