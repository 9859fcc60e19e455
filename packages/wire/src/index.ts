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
export {
  type Backoff,
  type BackoffDefaults,
  type BackoffOptions,
  backoffDelayMs,
  resolveBackoff,
  wait,
} from "./backoff.ts";
export {
  type ByteChannelOptions,
  type BytePipe,
  type ByteReceiver,
  createByteChannel,
} from "./byte-channel.ts";
export { canonicalJson, digest } from "./canonical-json.ts";
export type { Channel, ChannelHandlers, CloseReason, Listener, Transport } from "./channel.ts";
export { type Clock, type CreateId, randomId, systemClock } from "./clock.ts";
export type { Codec, CodecOptions, Decoder, Encoder } from "./codec/codec.ts";
export { FaultRun } from "./codec/fault-run.ts";
export { withJsonText } from "./codec/json-text.ts";
export { lengthPrefixCodec } from "./codec/length-prefix-codec.ts";
export { createMessageCodec, type MessageCodec } from "./codec/message-codec.ts";
export { newlineCodec } from "./codec/newline-codec.ts";
export { senderOf, withSender } from "./codec/sender.ts";
export { createDeferred, type Deferred } from "./deferred.ts";
export { type DisplayOptions, displayText } from "./display.ts";
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
export type { Exchange } from "./exchange.ts";
export { describeDifference, type JsonDifference, jsonDifference } from "./json-difference.ts";
export { defaultWireLimits, type WireLimits } from "./limits.ts";
export type { Call } from "./peer/inbound-call.ts";
export { type BatchCall, createPeer, type Peer } from "./peer/peer.ts";
export type { CancellationProtocol, PeerHandlers, PeerOptions, RequestOptions } from "./peer/peer-options.ts";
export {
  invalidParams,
  methodNotFound,
  ProtocolError,
  type ProtocolErrorOptions,
  toProtocolError,
} from "./protocol-error.ts";
export { quietly } from "./quietly.ts";
export { Slots } from "./slots.ts";
export {
  createStreamPipe,
  type StreamInput,
  type StreamOutput,
  type StreamPipeOptions,
} from "./stream-pipe.ts";
export { isThenable } from "./thenable.ts";
export { type PlatformWarning, warnPlatform } from "./warn-platform.ts";
