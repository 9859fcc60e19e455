import type { Encoder } from "../codec/codec.ts";
import { lengthPrefixCodec } from "../codec/length-prefix-codec.ts";
import { newlineCodec } from "../codec/newline-codec.ts";
import { messageOfBytes, startBoth } from "./channel-cases-delivery.ts";
import type { CaseContext, ChannelCase, ChannelProfile } from "./channel-contract.ts";
import { ContractError, demand, demandError, demandSame } from "./contract-error.ts";

const utf8 = new TextEncoder();
const hasRawBytes = (profile: ChannelProfile) => profile.rawBytes;
const isByteStream = (profile: ChannelProfile) => profile.rawBytes && profile.framing !== "message";

const rawWriter = ({ pair }: CaseContext) => {
  const write = pair.writeRawToServer?.bind(pair);
  if (!write) throw new ContractError("the profile has rawBytes, but the pair has no writeRawToServer");
  return write;
};

const take = (encoder: Encoder): Uint8Array => {
  const bytes = encoder.take();
  return typeof bytes === "string" ? utf8.encode(bytes) : bytes;
};

const frameMessages = (profile: ChannelProfile, messages: readonly unknown[]): Uint8Array => {
  const limits = { maxFrameBytes: 2 * profile.maxFrameBytes };
  const codec = profile.framing === "length-prefix" ? lengthPrefixCodec(limits) : newlineCodec(limits);
  const encoder = codec.createEncoder();
  for (const message of messages) encoder.add(message);
  return take(encoder);
};

/** Bytes that stand where one message should. */
const frameBytes = ({ framing }: ChannelProfile, payload: Uint8Array): Uint8Array => {
  if (framing === "message") return payload;
  if (framing === "newline") return new Uint8Array([...payload, 0x0a]);
  const { length } = payload;
  return new Uint8Array([length >>> 24, length >>> 16, length >>> 8, length, ...payload]);
};

const several = [{ text: "é🚀\u2028" }, [], "last"];

const splitChunks: ChannelCase = {
  name: "messages that arrive byte by byte are read",
  appliesTo: isByteStream,
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    for (const byte of frameMessages(context.profile, several)) await write(new Uint8Array([byte]));
    await server.untilMessages(several.length);
    demandSame(server.messages, several, "messages in one-byte chunks");
    demandSame(server.errors.length, 0, "errors");
  },
};

const mergedChunks: ChannelCase = {
  name: "messages that arrive in one chunk, with the half of another, are read",
  appliesTo: isByteStream,
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    const bytes = frameMessages(context.profile, [...several, { half: true }]);
    await write(bytes.subarray(0, bytes.length - 8));
    await server.untilMessages(several.length);
    demandSame(server.messages, several, "messages before the half one");
    await write(bytes.subarray(bytes.length - 8));
    await server.untilMessages(several.length + 1);
    demandSame(server.messages, [...several, { half: true }], "messages in merged chunks");
  },
};

const refused = (
  name: string,
  payload: Uint8Array,
  reason: string,
  appliesTo: ChannelCase["appliesTo"] = hasRawBytes,
): ChannelCase => ({
  name,
  appliesTo,
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    await write(frameBytes(context.profile, payload));
    await write(frameBytes(context.profile, utf8.encode('"next"')));
    await server.untilMessages(1);
    demandSame(server.messages, ["next"], "messages after the bad one");
    demandSame(server.errors.length, 1, "reports of the bad one");
    demandError(server.errors[0], "invalid_message", "the report of the bad one");
    demandSame((server.errors[0] as { reason?: unknown }).reason, reason, "the reason in the report");
    demand(!context.pair.server.signal.aborted, "a bad message closed the channel");
  },
});

const oversizeReceive: ChannelCase = {
  name: "an oversize line is reported as frame_too_large, and the next message arrives",
  appliesTo: ({ framing, rawBytes }) => rawBytes && framing === "newline",
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    const large = messageOfBytes(context.profile.maxFrameBytes + 1);
    await write(frameMessages(context.profile, [large, "next"]));
    await server.untilMessages(1);
    demandSame(server.messages, ["next"], "messages after the oversize one");
    demandSame(server.errors.length, 1, "reports of the oversize one");
    demandError(server.errors[0], "frame_too_large", "the report of the oversize one");
  },
};

const oversizeAnnounced: ChannelCase = {
  name: "an oversize frame closes the channel on its header, with frame_too_large",
  appliesTo: ({ framing, rawBytes }) => rawBytes && framing === "length-prefix",
  async run(context) {
    const { server } = startBoth(context, { keepOpenAtEnd: false });
    const write = rawWriter(context);
    const length = context.profile.maxFrameBytes + 1;
    const first = frameMessages(context.profile, ["first"]);
    await write(new Uint8Array([...first, length >>> 24, length >>> 16, length >>> 8, length]));
    await server.untilClosed();
    demandSame(server.messages, ["first"], "messages before the oversize one");
    demandError(server.closes[0]?.error, "frame_too_large", "the reason of the close");
    demandError(server.errors[0], "frame_too_large", "the report of the oversize one");
  },
};

const oversizeMessage: ChannelCase = {
  name: "an oversize message is reported or closes the channel, with frame_too_large",
  appliesTo: ({ framing, rawBytes }) => rawBytes && framing === "message",
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    await write(utf8.encode(JSON.stringify(messageOfBytes(context.profile.maxFrameBytes + 1))));
    await server.until(() => server.errors.length + server.closes.length > 0, "waiting for the refusal");
    demandError(server.errors[0] ?? server.closes[0]?.error, "frame_too_large", "the refusal");
    demandSame(server.messages, [], "messages");
  },
};

const notUtf8 = new Uint8Array([0x22, 0xc3, 0x28, 0x22]);

/** A transport with messages of its own may have to end the connection at such bytes (RFC 6455, 8.1). */
const notUtf8Message: ChannelCase = {
  name: "a message that is not UTF-8 is reported or closes the channel, with invalid_message",
  appliesTo: ({ framing, rawBytes }) => rawBytes && framing === "message",
  async run(context) {
    const { server } = startBoth(context);
    const write = rawWriter(context);
    await write(notUtf8);
    await server.until(() => server.errors.length + server.closes.length > 0, "waiting for the refusal");
    const refusal = server.errors[0] ?? server.closes[0]?.error;
    demandError(refusal, "invalid_message", "the refusal");
    demandSame((refusal as { reason?: unknown }).reason, "not_utf8", "the reason in the refusal");
    demandSame(server.messages, [], "messages");
  },
};

/** What arrives in other pieces than it was sent in, and what arrives and is no message. */
export const framingCases: readonly ChannelCase[] = [
  splitChunks,
  mergedChunks,
  refused(
    "garbage is reported as invalid_message, and the next message arrives",
    utf8.encode("{not json"),
    "not_json",
  ),
  refused(
    "bytes that are not UTF-8 are reported as invalid_message, and the next message arrives",
    notUtf8,
    "not_utf8",
    isByteStream,
  ),
  notUtf8Message,
  oversizeReceive,
  oversizeAnnounced,
  oversizeMessage,
];
