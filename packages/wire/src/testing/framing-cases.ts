import { lengthPrefixCodec } from "../codec/length-prefix-codec.ts";
import { newlineCodec } from "../codec/newline-codec.ts";
import type { ChannelProfile, Connected } from "./channel-contract.ts";
import { type CaseTable, ContractError, checkCode, checkSame, checkThat } from "./contract-error.ts";
import { messageOfBytes, startBoth } from "./delivery-cases.ts";

const utf8 = new TextEncoder();
const notUtf8 = new Uint8Array([0x22, 0xc3, 0x28, 0x22]);
const several = [{ text: "é🚀\u2028" }, [], "last"];

const startWithWriter = (connected: Connected, options?: { end?: boolean }) => {
  startBoth(connected, options);
  const { pair } = connected;
  if (pair.writeRawToServer) return pair.writeRawToServer.bind(pair);
  throw new ContractError("the profile has rawBytes, but the pair has no writeRawToServer");
};

/** The bytes of messages, which may be over the limit of the profile. */
const frameMessages = ({ framing, maxFrameBytes }: ChannelProfile, messages: readonly unknown[]) => {
  const limits = { maxFrameBytes: 2 * maxFrameBytes };
  const codec = framing === "length-prefix" ? lengthPrefixCodec(limits) : newlineCodec(limits);
  const encoder = codec.createEncoder();
  for (const message of messages) encoder.add(message);
  const bytes = encoder.take();
  return typeof bytes === "string" ? utf8.encode(bytes) : bytes;
};

const header = (length: number): number[] => [length >>> 24, length >>> 16, length >>> 8, length];

/** Bytes that stand where one message should. */
const frameBytes = ({ framing }: ChannelProfile, payload: Uint8Array): Uint8Array => {
  if (framing === "message") return payload;
  return new Uint8Array(framing === "newline" ? [...payload, 0x0a] : [...header(payload.length), ...payload]);
};

/** A message that is not valid is reported, and the next one arrives. */
const isReported = (payload: Uint8Array, reason: string) => async (connected: Connected) => {
  const write = startWithWriter(connected);
  const { server, profile } = connected;
  await write(frameBytes(profile, payload));
  await write(frameBytes(profile, utf8.encode('"next"')));
  await server.receives(["next"]);
  checkSame(server.errors.length, 1, "reports of the bad one");
  const error = await server.reports("invalid_message");
  checkSame((error as { reason?: unknown }).reason, reason, "the reason in the report");
  checkThat(!server.channel.signal.aborted, "a bad message closed the channel");
};

const streamCases: CaseTable<Connected> = {
  async "messages that arrive byte by byte are read"(connected) {
    const write = startWithWriter(connected);
    for (const byte of frameMessages(connected.profile, several)) await write(new Uint8Array([byte]));
    await connected.server.receives(several);
    checkSame(connected.server.errors.length, 0, "errors");
  },

  async "messages that arrive in one chunk, with the half of another, are read"(connected) {
    const write = startWithWriter(connected);
    const { server, profile } = connected;
    const bytes = frameMessages(profile, [...several, { half: true }]);
    await write(bytes.subarray(0, bytes.length - 8));
    await server.receives(several);
    await write(bytes.subarray(bytes.length - 8));
    await server.receives([...several, { half: true }]);
  },

  "bytes that are not UTF-8 are reported as invalid_message, and the next message arrives": isReported(
    notUtf8,
    "not_utf8",
  ),
};

const casesByFraming: Readonly<Record<ChannelProfile["framing"], CaseTable<Connected>>> = {
  newline: {
    ...streamCases,
    async "an oversize line is reported as frame_too_large, and the next message arrives"(connected) {
      const write = startWithWriter(connected);
      const { server, profile } = connected;
      await write(frameMessages(profile, [messageOfBytes(profile.maxFrameBytes + 1), "next"]));
      await server.receives(["next"]);
      checkSame(server.errors.length, 1, "reports of the oversize one");
      await server.reports("frame_too_large");
    },
  },

  "length-prefix": {
    ...streamCases,
    async "an oversize frame closes the channel on its header, with frame_too_large"(connected) {
      const write = startWithWriter(connected, { end: false });
      const { server, profile } = connected;
      const first = frameMessages(profile, ["first"]);
      await write(new Uint8Array([...first, ...header(profile.maxFrameBytes + 1)]));
      await server.until(() => server.closes.length > 0, "the close handler");
      checkSame(server.messages, ["first"], "messages before the oversize one");
      checkCode(server.closes[0]?.error, "frame_too_large", "the reason of the close");
      await server.reports("frame_too_large");
    },
  },

  // A transport with messages of its own may have to end the connection at such bytes (RFC 6455, 8.1).
  message: {
    async "a message that is not UTF-8 is reported or closes the channel, with invalid_message"(connected) {
      const write = startWithWriter(connected);
      await write(notUtf8);
      const refusal = await connected.server.reports("invalid_message");
      checkSame((refusal as { reason?: unknown }).reason, "not_utf8", "the reason in the refusal");
      checkSame(connected.server.messages, [], "messages");
    },

    async "an oversize message is reported or closes the channel, with frame_too_large"(connected) {
      const write = startWithWriter(connected);
      const { server, profile } = connected;
      await write(utf8.encode(JSON.stringify(messageOfBytes(profile.maxFrameBytes + 1))));
      await server.reports("frame_too_large");
      checkSame(server.messages, [], "messages");
    },
  },
};

/** What arrives in other pieces than it was sent in, and what arrives and is not a message. */
export const framingCases = ({ rawBytes, framing }: ChannelProfile): CaseTable<Connected> =>
  rawBytes
    ? {
        "garbage is reported as invalid_message, and the next message arrives": isReported(
          utf8.encode("{not json"),
          "not_json",
        ),
        ...casesByFraming[framing],
      }
    : {};
