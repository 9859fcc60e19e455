import type { BlockingEventType, NotificationEventType } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import { onTestFinished } from "vitest";
import type { AhpCallOptions, AhpErrorContext } from "../../src/client-options.ts";
import {
  type AhpClient,
  type AhpClientOptions,
  AhpFailure,
  AhpUsageError,
  createAhpClient,
} from "../../src/index.ts";
import { FakeHarness } from "./fake-harness.ts";

export { poll } from "./poll.ts";

export const base = { framework: "test", version: "1.0.0" };

type Settings = Partial<Omit<AhpClientOptions, "transport" | "exchange">>;

/** What `onError` reported: the errors by kind, and the notifications that were lost, each with the code of its failure. */
export const watcher = () => {
  const errors: { kind: AhpErrorContext["kind"]; code: string }[] = [];
  const lost: { index: unknown; code: string }[] = [];
  const onError: AhpClientOptions["onError"] = ({ code }, context) => {
    errors.push({ kind: context.kind, code });
    if (context.kind === "notification") lost.push({ index: (context.event.payload as any)?.index, code });
  };
  return { errors, lost, onError, dropped: () => errors.filter(({ kind }) => kind === "message").length };
};

/** A client of a fake harness, before its handshake; closed with the test. */
export const clientOf = (harness: FakeHarness, options: Settings = {}): AhpClient => {
  const client = createAhpClient({ ...base, transport: harness, ...options });
  onTestFinished(() => client.close());
  return client;
};

/** A fake harness and a client that has shaken hands with it. */
export const connected = async (
  answer?: ConstructorParameters<typeof FakeHarness>[0],
  options: Settings & { clock?: Clock } = {},
) => {
  const harness = new FakeHarness(answer, options.clock);
  const watched = watcher();
  const client = clientOf(harness, { onError: watched.onError, ...options });
  await client.connect();
  return { harness, client, ...watched };
};

/** What a promise was rejected with; "it was not" where it was not. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "it was not rejected",
    (error: unknown) => error,
  );

/** The failure that a call was rejected with. */
export const ahpFailureOf = async (promise: Promise<unknown>): Promise<AhpFailure> => {
  const error = await failureOf(promise);
  if (AhpFailure.isInstance(error)) return error;
  throw new Error("the promise was not rejected with an AhpFailure", { cause: error });
};

/** The code of the usage error that a call throws or is rejected with. */
export const misuseOf = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (AhpUsageError.isInstance(error)) return error.code;
    throw new Error("it threw no AhpUsageError", { cause: error });
  }
  throw new Error("it threw nothing");
};

/** Sends a whole event as a caller does that has one. */
export const decideFull = (client: AhpClient, event: any, options: AhpCallOptions = {}) => {
  const { event_type, payload, ...fields } = event ?? {};
  return client.decide(event_type as BlockingEventType, payload, { ...fields, ...options });
};

/** The same for a notification. */
export const notifyFull = (client: AhpClient, event: any) => {
  const { event_type, payload, ...fields } = event ?? {};
  return client.notify(event_type as NotificationEventType, payload, fields);
};
