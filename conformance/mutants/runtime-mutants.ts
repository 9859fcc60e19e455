import { deviating, type Mutant, skip, within, without } from "./mutant.ts";
import type { Message, RuntimeDeviation } from "./runtime-frames.ts";

export type RuntimeMutant = Mutant<RuntimeDeviation>;

export const sends = deviating<RuntimeDeviation, "send">("sends", "send");
/** Changes the payload of messages of a type. */
export const payloads = (type: string) =>
  within(
    sends,
    (change: (payload: Message) => Message) => (message) =>
      message.type === type ? { ...message, payload: change(message.payload) } : message,
  );
const errors = within(sends, (change: (error: Message) => Message) => (message) => ({
  ...message,
  ...(message.error && { error: change(message.error) }),
  payload: { ...message.payload, ...(message.payload.error && { error: change(message.payload.error) }) },
}));
export const nothing = (type: string) => (message: Message) => (message.type === type ? undefined : message);

/**
 * The mutants that a core and an agent have alike. `type`: messages that each of them sends; `fields` and `types`: the
 * requirements of its envelopes and of these messages.
 */
export const sharedRuntimeMutants = (
  type: string,
  otherType: string,
  fields: string,
  types: string,
): readonly RuntimeMutant[] => [
  skip("pieces", "RUN-6", "RUN-10"),
  skip("bytes", "RUN-7"),
  skip("utf8", "RUN-7"),
  skip("times", "RUN-36"),
  skip("nulls", "RUN-153"),
  {
    ...sends("no version over TCP", (message) => without(message, "v"), "RUN-5", fields, "RUN-33"),
    transport: "tcp",
  },
  sends("ids that are not UUIDs", (message) => ({ ...message, id: `id-${message.id}` }), "RUN-35"),
  sends("one id", (message) => ({ ...message, id: "00000000-0000-4000-8000-000000000000" }), "RUN-34"),
  sends("a time of its own", (message) => ({ ...message, ts: "yesterday" }), "RUN-36"),
  sends(
    "no payload",
    (message) => (message.type === type ? without(message, "payload") : message),
    fields,
    "RUN-37",
  ),
  sends(
    "another type",
    (message) => (message.type === type ? { ...message, type: otherType } : message),
    "RUN-54",
    types,
  ),
  errors("numbers as codes", (error) => ({ ...error, code: 7 }), "RUN-48"),
  errors("debug", (error) => ({ ...error, debug: { at: "here" } }), "RUN-52"),
];
