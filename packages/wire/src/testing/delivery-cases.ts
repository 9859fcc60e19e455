import { HarnessError } from "../errors.ts";
import type { Connected } from "./channel-contract.ts";
import { type CaseTable, ContractError, checkCode, checkSame, checkThat, turns } from "./contract-error.ts";

/** Starts both ends. */
export const startBoth = ({ client, server }: Connected, options: { end?: boolean } = {}): void => {
  client.start(options);
  server.start(options);
};

/** A message whose JSON has exactly so many bytes. */
export const messageOfBytes = (bytes: number, character = "x") => {
  const room = bytes - '{"fill":""}'.length;
  const width = new TextEncoder().encode(character).length;
  return { fill: character.repeat(Math.floor(room / width)) + "y".repeat(room % width) };
};

const numbered = (count: number, from: string) =>
  Array.from({ length: count }, (_, index) => ({ from, index }));

/** Sends until `buffer_full`; returns what was accepted, how many of it are pending, and the refusal. */
const fillUp = async ({ client, profile }: Connected) => {
  const { maxFrameBytes, maxBufferedBytes, maxSystemBytes = 16 * 1024 * 1024 } = profile;
  const { fill } = messageOfBytes(Math.floor(maxFrameBytes / 2));
  const most = Math.ceil((2 * maxBufferedBytes + maxSystemBytes) / fill.length);
  const accepted: Promise<void>[] = [];
  const state = { pending: 0, refusal: undefined as unknown };
  while (state.refusal === undefined) {
    checkThat(accepted.length <= most, "a reader that never reads lets `send` buffer without limit");
    const sending = client.channel.send({ index: accepted.length, fill });
    state.pending++;
    sending.then(
      () => state.pending--,
      (error: unknown) => {
        state.pending--;
        state.refusal ??= error;
      },
    );
    accepted.push(sending);
    await turns(1);
  }
  accepted.pop();
  checkThat(state.pending > 0, "every accepted send settled although nothing is read");
  return { accepted, refusal: state.refusal, sent: accepted.map((_, index) => ({ index, fill })) };
};

/** What arrives, in which order, and what a slow reader costs. */
export const deliveryCases: CaseTable<Connected> = {
  async "1000 messages each way arrive whole and in order"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    const fromClient = numbered(1000, "client");
    const fromServer = numbered(1000, "server");
    await Promise.all([client.send(...fromClient), server.send(...fromServer)]);
    await server.receives(fromClient);
    await client.receives(fromServer);
  },

  async "every kind of JSON value arrives as it was sent"(connected) {
    startBoth(connected);
    const values = [
      ...[null, true, 0, -1.5, 1e21, "", "line\nfeed \r \u2028 \u0000 \ud83d\ude80 é"],
      ...[[], {}, [[{ a: [null] }]]],
      JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as unknown,
    ];
    await connected.client.send(...values);
    await connected.server.receives(values);
    checkThat(({} as { polluted?: unknown }).polluted === undefined, "a message changed Object.prototype");
  },

  async "a message of exactly the limit arrives, in either direction"(connected) {
    startBoth(connected);
    const { client, server, profile } = connected;
    const plain = messageOfBytes(profile.maxFrameBytes);
    const wide = messageOfBytes(profile.maxFrameBytes, "🚀");
    for (const message of [plain, wide]) await client.send(message);
    await server.send(plain);
    await server.receives([plain, wide]);
    await client.receives([plain]);
  },

  async "a message over the limit is refused with frame_too_large, and the channel stays usable"(connected) {
    startBoth(connected);
    const { client, server, profile } = connected;
    for (const character of ["x", "🚀"]) {
      const large = messageOfBytes(profile.maxFrameBytes + 1, character);
      await client.refuses(large, "frame_too_large", "an oversize send");
    }
    await client.send("next");
    await server.receives(["next"]);
    checkSame(server.errors.length, 0, "errors at the receiver");
  },

  async "what is not JSON is refused with invalid_argument, and nothing of it is sent"(connected) {
    startBoth(connected);
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const value of [undefined, () => 1, 1n, cyclic]) {
      await connected.client.refuses(value, "invalid_argument", "sending no JSON");
    }
    await connected.client.send("next");
    await connected.server.receives(["next"]);
  },

  async "a message handler that throws or rejects is reported and harms nothing"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    const thrown = { kind: "thrown by the test" };
    server.onMessage = (message) => {
      if (message === 1) throw thrown;
      return message === 2 ? Promise.reject(thrown) : undefined;
    };
    await client.send(1, 2, 3);
    await server.receives([1, 2, 3]);
    await server.until(() => server.errors.length >= 2, "the error handler");
    checkSame(server.errors.length, 2, "reports of a throwing handler");
    for (const error of server.errors) {
      checkCode(error, "handler_failed", "the report of a throwing handler");
      checkThat(error.cause === thrown, "the report of a throwing handler keeps no cause");
    }
    checkThat(!server.channel.signal.aborted, "a throwing handler closed the channel");
  },

  async "a message handler's promise holds back what follows"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    let release = () => {};
    server.onMessage = (message) =>
      message === 0 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
    const sending = client.send(0, 1, 2);
    await server.until(() => server.messages.length > 0, "the first message");
    await turns(20);
    checkSame(server.messages, [0], "messages while the handler of the first is busy");
    release();
    await sending;
    await server.receives([0, 1, 2]);
  },

  async "each end has a context"({ client, server }) {
    for (const { name, channel } of [client, server]) {
      checkThat(channel.context !== undefined, `the ${name}'s channel has no context`);
    }
  },

  async "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order"(
    connected,
  ) {
    const { client, server } = connected;
    client.start();
    const { accepted, refusal, sent } = await fillUp(connected);
    checkCode(refusal, "buffer_full", "the refusal");
    await client.refuses("more", "buffer_full", "another send");
    server.start();
    await client.settles(Promise.all(accepted), "the accepted sends");
    await client.send("after");
    await server.receives([...sent, "after"]);
  },

  async "a send that waits for a reader is settled when the channel closes"(connected) {
    const { client, pair } = connected;
    client.start();
    const { accepted } = await fillUp(connected);
    await pair.killClient();
    for (const outcome of await client.settles(Promise.allSettled(accepted), "sends at the close")) {
      if (outcome.status === "fulfilled") continue;
      const { reason } = outcome;
      const code = HarnessError.isInstance(reason) ? reason.code : undefined;
      if (code === "connection_closed" || code === "transport_failed") continue;
      throw new ContractError("a send that waited was rejected with another error", { cause: reason });
    }
    await client.isClosed();
  },
};
