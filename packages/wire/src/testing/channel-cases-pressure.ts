import type { Channel } from "../channel.ts";
import { HarnessError } from "../errors.ts";
import { messageOfBytes } from "./channel-cases-delivery.ts";
import type { CaseContext, ChannelCase } from "./channel-contract.ts";
import { ChannelLog } from "./channel-log.ts";
import { ContractError, demand, demandRejection, demandSame, settled, turns } from "./contract-error.ts";

const fillMessage = (bytes: number, index: number) => {
  const { fill } = messageOfBytes(bytes);
  return { index, fill };
};

/** Sends until `buffer_full`; gives what was accepted and how it stands. */
const fill = async (channel: Channel, { profile }: CaseContext) => {
  const frameBytes = Math.floor(profile.maxFrameBytes / 2);
  const { maxBufferedBytes, maxSystemBytes = 16 * 1024 * 1024 } = profile;
  const most = Math.ceil((2 * maxBufferedBytes + maxSystemBytes) / frameBytes);
  const accepted: Promise<void>[] = [];
  const state = { pending: 0, refusal: undefined as unknown };
  while (state.refusal === undefined) {
    if (accepted.length > most)
      throw new ContractError("a reader that never reads lets `send` buffer without limit");
    const sending = channel.send(fillMessage(frameBytes, accepted.length));
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
  return { accepted, state, frameBytes };
};

const slowReader: ChannelCase = {
  name: "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order",
  async run(context) {
    const { pair, timeoutMs } = context;
    const server = new ChannelLog(timeoutMs);
    pair.client.start(new ChannelLog(timeoutMs).handlers());
    const { accepted, state, frameBytes } = await fill(pair.client, context);
    demand(HarnessError.isInstance(state.refusal), "the refusal is an error of another kind");
    demandSame(state.refusal.code, "buffer_full", "the refusal's code");
    demand(state.pending > 0, "every accepted send settled although nobody reads");
    await demandRejection(pair.client.send("more"), "buffer_full", "another send", timeoutMs);
    pair.server.start(server.handlers());
    await settled(Promise.all(accepted), "the accepted sends", timeoutMs);
    await settled(pair.client.send("after"), "a send once there is room", timeoutMs);
    await server.untilMessages(accepted.length + 1);
    const expected = accepted.map((_, index) => fillMessage(frameBytes, index));
    demandSame(server.messages, [...expected, "after"], "what arrived");
  },
};

const killedReader: ChannelCase = {
  name: "a send that waits for a reader is settled when the channel closes",
  async run(context) {
    const { pair, timeoutMs } = context;
    const client = new ChannelLog(timeoutMs);
    pair.client.start(client.handlers());
    const { accepted, state } = await fill(pair.client, context);
    demand(state.pending > 0, "every accepted send settled although nobody reads");
    await pair.killClient();
    const outcomes = await settled(Promise.allSettled(accepted), "sends at the close", timeoutMs);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      demand(HarnessError.isInstance(outcome.reason), "a send was rejected with an error of another kind");
      const { code } = outcome.reason;
      demand(
        code === "connection_closed" || code === "transport_failed",
        `a send that waited was rejected with ${code}`,
      );
    }
    await client.untilClosed();
  },
};

/** What a slow reader costs. */
export const pressureCases: readonly ChannelCase[] = [slowReader, killedReader];
