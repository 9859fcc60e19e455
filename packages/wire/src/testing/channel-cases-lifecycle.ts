import { InvalidArgumentError, TransportError } from "../errors.ts";
import { startBoth } from "./channel-cases-delivery.ts";
import type { CaseContext, ChannelCase, ChannelProfile } from "./channel-contract.ts";
import { ChannelLog } from "./channel-log.ts";
import {
  ContractError,
  demand,
  demandError,
  demandRejection,
  demandSame,
  settled,
} from "./contract-error.ts";

const canHalfClose = (profile: ChannelProfile) => profile.halfClose;

const endClient = async ({ pair }: CaseContext): Promise<void> => {
  if (!pair.endClient) throw new ContractError("the profile has halfClose, but the pair has no endClient");
  await pair.endClient();
};

/** The close handler fired once and last, and all the other ways to see the close agree with it. */
const demandClosed = async (
  context: CaseContext,
  side: "client" | "server",
  log: ChannelLog,
): Promise<void> => {
  const channel = context.pair[side];
  await log.untilClosed();
  const reason = await settled(channel.closed, `the ${side}'s closed promise`, context.timeoutMs);
  demandSame(log.closes.length, 1, `calls of the ${side}'s close handler`);
  demandSame(log.afterClose, 0, `reports after the ${side}'s close handler`);
  demand(reason.error === log.closes[0]?.error, `the ${side}'s closed promise tells another reason`);
  demand(channel.signal.aborted, `the ${side}'s signal is not aborted`);
};

const startTwice: ChannelCase = {
  name: "a second start throws invalid_argument",
  async run(context) {
    const { server } = startBoth(context);
    const { pair, timeoutMs } = context;
    let thrown: unknown;
    try {
      pair.server.start(new ChannelLog(timeoutMs).handlers());
    } catch (error) {
      thrown = error;
    }
    demandError(thrown, new InvalidArgumentError("").code, "a second start");
    await settled(pair.client.send("still"), "send", timeoutMs);
    await server.untilMessages(1);
    demandSame(server.messages, ["still"], "messages to the first handlers");
  },
};

const closeFlushes: ChannelCase = {
  name: "close sends what is queued, and both ends close in good order",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const sent = [1, 2, 3].map((message) => pair.client.send(message));
    const closing = pair.client.close();
    await settled(Promise.all(sent), "sends before the close", timeoutMs);
    await server.untilMessages(3);
    demandSame(server.messages, [1, 2, 3], "messages sent before the close");
    await server.until(() => server.ends + server.closes.length > 0, "the server noticing the close");
    await settled(pair.server.close(), "the server's close", timeoutMs);
    await settled(closing, "the client's close", timeoutMs);
    await demandClosed(context, "client", client);
    await demandClosed(context, "server", server);
    demand(client.closes[0]?.error === undefined, "a close in good order has an error");
    demand(server.closes[0]?.error === undefined, "a close in good order has an error at the other side");
  },
};

const doubleClose: ChannelCase = {
  name: "closing twice is closing once",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const both = Promise.all([pair.client.close(), pair.client.close(new TransportError("too late"))]);
    await server.until(() => server.ends + server.closes.length > 0, "the server noticing the close");
    await settled(pair.server.close(), "the server's close", timeoutMs);
    await settled(both, "two closes", timeoutMs);
    await settled(pair.client.close(), "a close after the close", timeoutMs);
    await demandClosed(context, "client", client);
    demand(client.closes[0]?.error === undefined, "the second close changed the reason");
  },
};

const closeReason: ChannelCase = {
  name: "an error given to close is the reason",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const error = new TransportError("chosen by the test");
    const closing = pair.client.close(error);
    await server.until(() => server.ends + server.closes.length > 0, "the server noticing the close");
    await settled(pair.server.close(), "the server's close", timeoutMs);
    await settled(closing, "the close", timeoutMs);
    await demandClosed(context, "client", client);
    demand(client.closes[0]?.error === error, "the close handler got another reason");
  },
};

const otherCloses: ChannelCase = {
  name: "a channel whose handlers know no end closes when the other side does",
  async run(context) {
    const { pair, timeoutMs } = context;
    const { client, server } = startBoth(context, { keepOpenAtEnd: false });
    await settled(pair.client.send("last"), "send", timeoutMs);
    await settled(pair.client.close(), "close", timeoutMs);
    await demandClosed(context, "client", client);
    await demandClosed(context, "server", server);
    demandSame(server.messages, ["last"], "messages before the close");
    demand(server.closes[0]?.error === undefined, "a close in good order has an error");
  },
};

const closeBeforeStart: ChannelCase = {
  name: "a channel can be closed before it is started",
  async run(context) {
    const { pair, timeoutMs } = context;
    const server = new ChannelLog(timeoutMs, { keepOpenAtEnd: false });
    pair.server.start(server.handlers());
    await settled(pair.client.close(), "a close before the start", timeoutMs);
    await demandClosed(context, "server", server);
    const client = new ChannelLog(timeoutMs);
    pair.client.start(client.handlers());
    await demandClosed(context, "client", client);
    await demandRejection(pair.client.send(1), "connection_closed", "send after close", timeoutMs);
  },
};

const sendAfterClose: ChannelCase = {
  name: "send after close is refused with connection_closed, on both ends",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const closing = pair.client.close();
    await demandRejection(pair.client.send(1), "connection_closed", "send while closing", timeoutMs);
    await server.until(() => server.ends + server.closes.length > 0, "the server noticing the close");
    await settled(pair.server.close(), "the server's close", timeoutMs);
    await settled(closing, "close", timeoutMs);
    await client.untilClosed();
    await server.untilClosed();
    await demandRejection(pair.client.send(1), "connection_closed", "send after close", timeoutMs);
    await demandRejection(
      pair.server.send(1),
      "connection_closed",
      "send after the other's close",
      timeoutMs,
    );
    demandSame(server.messages, [], "messages sent after the close");
  },
};

const kill: ChannelCase = {
  name: "when the other side is killed in mid-request, everything settles and closes",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    await settled(pair.client.send({ id: 1, method: "work" }), "send", timeoutMs);
    await server.untilMessages(1);
    await pair.killClient();
    // With nobody left to read, an end of input may be all that the server's side is told.
    await server.until(() => server.ends + server.closes.length > 0, "the server noticing the kill");
    const reply = pair.server.send({ id: 1, result: null }).catch(() => {});
    await settled(reply, "the reply to a client that was killed", timeoutMs);
    await settled(pair.server.close(), "closing after the kill", timeoutMs);
    await demandClosed(context, "server", server);
    await demandClosed(context, "client", client);
    await demandRejection(pair.server.send(1), "connection_closed", "send after the kill", timeoutMs);
    await demandRejection(pair.client.send(1), "connection_closed", "send by the killed", timeoutMs);
  },
};

const halfClose: ChannelCase = {
  name: "after the client's end of input the server's replies still arrive",
  appliesTo: canHalfClose,
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    await settled(pair.client.send("question"), "send", timeoutMs);
    await endClient(context);
    await server.until(() => server.ends > 0, "waiting for the end handler");
    demandSame(server.messages, ["question"], "messages before the end");
    demand(!pair.server.signal.aborted, "the end of input closed the channel");
    for (const answer of [1, 2]) await settled(pair.server.send(answer), "send after the end", timeoutMs);
    await client.untilMessages(2);
    demandSame(client.messages, [1, 2], "replies after the end");
    await settled(pair.server.close(), "the server's close", timeoutMs);
    await settled(pair.client.close(), "the client's close", timeoutMs);
    await demandClosed(context, "server", server);
    await demandClosed(context, "client", client);
    demandSame(server.ends, 1, "calls of the end handler");
  },
};

/** How a channel begins and ends. */
export const lifecycleCases: readonly ChannelCase[] = [
  startTwice,
  closeFlushes,
  doubleClose,
  closeReason,
  otherCloses,
  closeBeforeStart,
  sendAfterClose,
  kill,
  halfClose,
];
