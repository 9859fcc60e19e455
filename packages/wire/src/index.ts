export type { AttachmentContent } from "./attachments/attachment-content.ts";
export { AttachmentError, type AttachmentErrorCode } from "./attachments/attachment-error.ts";
export { type AttachmentLimits, resolveAttachmentLimits } from "./attachments/attachment-limits.ts";
export {
  type Attachment,
  type AttachmentScope,
  attachedText,
  type ReadAttachment,
  readAttachments,
} from "./attachments/read-attachments.ts";
export { BoundedMap, type BoundedOptions, BoundedSet } from "./bounded.ts";
export {
  type ByteChannelOptions,
  type BytePipe,
  type ByteReceiver,
  createByteChannel,
} from "./byte-channel.ts";
export { callSafely, isThenable } from "./call-safely.ts";
export type { Channel, ChannelHandlers, CloseReason, Listener, Transport } from "./channel.ts";
export type { Codec, CodecOptions, Decoder, Encoder } from "./codec/codec.ts";
export { FaultRun } from "./codec/fault-run.ts";
export { JsonLine } from "./codec/json-line.ts";
export { lengthPrefixCodec } from "./codec/length-prefix-codec.ts";
export { createMessageCodec, type MessageCodec } from "./codec/message-codec.ts";
export { type NewlineCodecOptions, newlineCodec } from "./codec/newline-codec.ts";
export { createDeferred, type Deferred } from "./deferred.ts";
export {
  checkNumber,
  defineLimits,
  type LimitDefinition,
  type LimitsDefinition,
  type LimitsOf,
  type NumberRange,
} from "./define-limits.ts";
export { defineOptions, type OptionNames, type Resolved } from "./define-options.ts";
export { type DisplayOptions, displayName, displayReason, displayText, endOfCharacter } from "./display.ts";
export {
  BufferFullError,
  ConnectionClosedError,
  FrameTooLargeError,
  HarnessError,
  InvalidArgumentError,
  InvalidMessageError,
  type LineEnds,
  RequestCancelledError,
  RequestTimeoutError,
  TransportError,
} from "./errors.ts";
export {
  type Exchange,
  isMessageStream,
  isReplyTooLarge,
  type MessageStream,
  type StreamExchange,
} from "./exchange.ts";
export { Feed } from "./feed.ts";
export { canonicalJson, digest } from "./json/canonical-json.ts";
export { describeDifference, type JsonDifference, jsonDifference } from "./json/json-difference.ts";
export { defaultWireLimits, type WireLimits } from "./limits.ts";
export { joinKey, noPrincipalKey, principalKey } from "./principal-key.ts";
export {
  invalidParams,
  methodNotFound,
  ProtocolError,
  type ProtocolErrorOptions,
  toProtocolError,
} from "./protocol-error.ts";
export { redactedPlaceholder, withoutSecretShapes } from "./secret-shapes.ts";
export { sharedSignal } from "./shared-signal.ts";
export { shellWord } from "./shell-word.ts";
export {
  createStreamPipe,
  type StreamInput,
  type StreamOutput,
  type StreamPipeOptions,
} from "./stream-pipe.ts";
export {
  type Backoff,
  type BackoffDefaults,
  type BackoffOptions,
  backoffDelayMs,
  resolveBackoff,
  wait,
} from "./time/backoff.ts";
export { type Clock, type CreateId, randomId, randomUuid, systemClock } from "./time/clock.ts";
export { type PlatformWarning, warnPlatform } from "./warn-platform.ts";
export { Watches, type WatchOptions } from "./watches.ts";
