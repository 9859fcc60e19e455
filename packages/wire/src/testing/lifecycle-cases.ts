import { TransportError } from "../errors.ts";
import type { ChannelProfile, Connected } from "./channel-contract.ts";
import { type CaseTable, ContractError, checkCode, checkSame, checkThat } from "./contract-error.ts";
import { startBoth } from "./delivery-cases.ts";

/** The client's close settles once the server, which saw the end, has closed too. */
const closeServerToo = async ({ client, server }: Connected, closing: Promise<unknown>): Promise<void> => {
  await server.seesEnd();
  await server.close();
  await client.settles(closing, "closing");
};

const cases: CaseTable<Connected> = {
  async "a second start throws invalid_argument"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    let thrown: unknown;
    try {
      server.channel.start({ message() {}, error() {}, end() {}, close() {} });
    } catch (error) {
      thrown = error;
    }
    checkCode(thrown, "invalid_argument", "a second start");
    await client.send("still");
    await server.receives(["still"]);
  },

  async "close sends what is queued, and both ends close in good order"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    const sending = client.send(1, 2, 3);
    const closing = client.channel.close();
    await sending;
    await server.receives([1, 2, 3]);
    await closeServerToo(connected, closing);
    await client.isClosedInGoodOrder();
    await server.isClosedInGoodOrder();
  },

  async "closing twice is closing once"(connected) {
    startBoth(connected);
    const { client } = connected;
    const both = Promise.all([client.channel.close(), client.channel.close(new TransportError("too late"))]);
    await closeServerToo(connected, both);
    await client.close();
    await client.isClosedInGoodOrder();
  },

  async "an error given to close is the reason"(connected) {
    startBoth(connected);
    const error = new TransportError("chosen by the test");
    await closeServerToo(connected, connected.client.channel.close(error));
    checkThat((await connected.client.isClosed()) === error, "the close handler got another reason");
  },

  async "a channel whose handlers know no end closes when the other side does"(connected) {
    startBoth(connected, { end: false });
    const { client, server } = connected;
    await client.send("last");
    await client.close();
    await client.isClosed();
    await server.isClosedInGoodOrder();
    checkSame(server.messages, ["last"], "messages before the close");
  },

  async "a channel can be closed before it is started"({ client, server }) {
    server.start({ end: false });
    await client.close();
    await server.isClosed();
    client.start();
    await client.isClosed();
    await client.refuses(1, "connection_closed", "send after close");
  },

  async "send after close is refused with connection_closed, on both ends"(connected) {
    startBoth(connected);
    const { client, server } = connected;
    const closing = client.channel.close();
    await client.refuses(1, "connection_closed", "send while closing");
    await closeServerToo(connected, closing);
    for (const end of [client, server]) {
      await end.until(() => end.closes.length > 0, "the close handler");
      await end.refuses(1, "connection_closed", "send after the close");
    }
    checkSame(server.messages, [], "messages sent after the close");
  },

  async "when the other side is killed in mid-request, everything settles and closes"(connected) {
    startBoth(connected);
    const { client, server, pair } = connected;
    await client.send({ id: 1, method: "work" });
    await server.until(() => server.messages.length > 0, "the request");
    await pair.killClient();
    // With no reader left, an end of input may be all that the server's side sees.
    await server.seesEnd();
    const reply = server.channel.send({ id: 1, result: null }).catch(() => {});
    await server.settles(reply, "the reply to a client that was killed");
    await server.close();
    for (const end of [server, client]) {
      await end.isClosed();
      await end.refuses(1, "connection_closed", "send after the kill");
    }
  },
};

const halfCloseCases: CaseTable<Connected> = {
  async "after the client's end of input the server's replies still arrive"(connected) {
    startBoth(connected);
    const { client, server, pair } = connected;
    await client.send("question");
    if (!pair.endClient) throw new ContractError("the profile has halfClose, but the pair has no endClient");
    await pair.endClient();
    await server.until(() => server.ends > 0, "the end handler");
    checkSame(server.messages, ["question"], "messages before the end");
    checkThat(!server.channel.signal.aborted, "the end of input closed the channel");
    for (const answer of [1, 2]) await server.send(answer);
    await client.receives([1, 2]);
    for (const end of [server, client]) await end.close();
    for (const end of [server, client]) await end.isClosed();
    checkSame(server.ends, 1, "calls of the end handler");
  },
};

/** How a channel begins and ends. */
export const lifecycleCases = ({ halfClose }: ChannelProfile): CaseTable<Connected> =>
  halfClose ? { ...cases, ...halfCloseCases } : cases;
