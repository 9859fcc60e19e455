import { join } from "node:path";
import type { HarnessError } from "@harnesskit/wire";
import { ClientSession, createPeer, type Peer } from "@harnesskit/wire/rpc";
import { systemClock } from "@harnesskit/wire/time";
import { expect, it } from "vitest";
import { rejection, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createUnixListener, createUnixTransport } from "../src/index.ts";

it.each([
  ["newline", "length-prefix", "connection_closed"],
  ["length-prefix", "newline", "request_timeout"],
] as const)(
  "a client that frames by %s and a server by %s learn what each expected",
  async (ours, theirs, code) => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const listener = createUnixListener({ path, framing: theirs });
    const heard: HarnessError[] = [];
    await listener.listen((channel) => {
      createPeer(channel, { request: () => "yes", onError: (error) => heard.push(error) });
    });
    const session = new ClientSession<Peer, unknown>({
      open: async (_signal, onOver) => {
        const channel = await createUnixTransport({ path, framing: ours }).connect();
        return createPeer(channel, { close: ({ error }) => onOver(error) });
      },
      introduce: (peer) => peer.request("hello"),
      reconnect: undefined,
      timeoutMs: () => 200,
      clock: systemClock,
    });
    const error = await rejection(session.connect());
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(`no message came: this side frames by "${ours}"`);
    expect(error.message.match(/no message came/g)).toHaveLength(1);
    await session.close();
    await listener.close();
    const expected =
      theirs === "newline" ? "lines of JSON were expected" : "four bytes of length were expected";
    expect(heard[0]?.message).toContain(expected);
    expect(heard[0]?.message).toContain(`framing: "${ours}"`);
  },
);
