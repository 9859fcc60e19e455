export { AttachmentError, type AttachmentErrorCode } from "./attachments/attachment-error.ts";
export { type AttachmentLimits, resolveAttachmentLimits } from "./attachments/attachment-limits.ts";
export {
  type AttachmentScope,
  attachedText,
  type ReadAttachment,
  readAttachments,
} from "./attachments/read-attachments.ts";
export { BoundedMap, BoundedSet } from "./bounded.ts";
export { type BytePipe, type ByteReceiver, createByteChannel } from "./byte-channel.ts";
export { callSafely, isThenable } from "./call-safely.ts";
export type { Channel, ChannelHandlers, CloseReason, Listener, Transport } from "./channel.ts";
export type { Codec } from "./codec/codec.ts";
export { FaultRun } from "./codec/fault-run.ts";
export { writeMessage, writtenJson } from "./codec/json-text.ts";
export { lengthPrefixCodec } from "./codec/length-prefix-codec.ts";
export { createMessageCodec, type MessageCodec } from "./codec/message-codec.ts";
export { JsonLine, newlineCodec } from "./codec/newline-codec.ts";
export { createDeferred, type Deferred } from "./deferred.ts";
export { checkNumber, defineLimits, type LimitsDefinition, type LimitsOf } from "./define-limits.ts";
export { defineOptions, type OptionNames, type Resolved } from "./define-options.ts";
export { displayName, displayReason, displayText, endOfCharacter } from "./display.ts";
export {
  BufferFullError,
  ConnectionClosedError,
  FrameTooLargeError,
  HarnessError,
  InvalidArgumentError,
  InvalidMessageError,
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
export { LazyAbort } from "./lazy-abort.ts";
export { defaultWireLimits } from "./limits.ts";
export { joinKey, noPrincipalKey, principalKey } from "./principal-key.ts";
export { invalidParams, methodNotFound, ProtocolError } from "./protocol-error.ts";
export { isPlainName, redactedPlaceholder, withoutSecretShapes } from "./secret-shapes.ts";
export { sharedSignal } from "./shared-signal.ts";
export { shellWord } from "./shell-word.ts";
export { createStreamPipe } from "./stream-pipe.ts";
export { type Backoff, type BackoffOptions, backoffDelayMs, resolveBackoff, wait } from "./time/backoff.ts";
export { type Clock, type CreateId, randomId, randomUuid, systemClock } from "./time/clock.ts";
export { warnPlatform } from "./warn-platform.ts";
export { Watches, type WatchOptions } from "./watches.ts";
