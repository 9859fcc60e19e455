import { networkInterfaces } from "node:os";
import { type Channel, createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { AddressInUseError, createTcpListener, createTcpTransport, NotLoopbackError } from "../src/index.ts";
import { ask, closing, echo, rejection } from "./support.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((entries) =>
  entries?.some(({ address }) => address === "::1"),
);

describe("loopback TCP", () => {
  it("listens on a port that the system chooses, and says which", async () => {
    const listener = createTcpListener();
    await using _ = closing(listener);
    expect(listener.port).toBeUndefined();
    expect(listener.endpoint).toBeUndefined();
    const accepted = createDeferred<Channel<{ remoteAddress: string; remotePort: number }>>();
    await listener.listen((channel) => {
      accepted.resolve(channel);
      echo(channel);
    });
    const { port = 0 } = listener;
    expect(port).toBeGreaterThan(0);
    expect(listener.endpoint).toBe(`tcp:127.0.0.1:${port}`);
    const client = await createTcpTransport({ port }).connect();
    expect(client.context).toEqual({ transport: "tcp", remoteAddress: "127.0.0.1", remotePort: port });
    const server = await accepted.promise;
    expect(server.context).toMatchObject({ transport: "tcp", remoteAddress: "127.0.0.1" });
    expect(server.context.remotePort).toBeGreaterThan(0);
    expect(await ask(createTcpTransport({ port }), { n: 1 })).toEqual({ n: 1 });
    await client.close();
  });

  it("works with IPv6", async ({ skip }) => {
    if (!hasIpv6) skip("this machine has no ::1");
    const listener = createTcpListener({ host: "::1" });
    await using _ = closing(listener);
    await listener.listen(echo);
    const { port = 0 } = listener;
    expect(listener.endpoint).toBe(`tcp:[::1]:${port}`);
    expect(await ask(createTcpTransport({ host: "::1", port }), 6)).toBe(6);
  });

  it("answers a port that is taken with address_in_use", async () => {
    const first = createTcpListener();
    await using _ = closing(first);
    await first.listen(echo);
    const { port = 0 } = first;
    const second = createTcpListener({ port });
    const error = await rejection(second.listen(echo));
    expect(error).toBeInstanceOf(AddressInUseError);
    expect(error).toMatchObject({ code: "address_in_use", endpoint: `tcp:127.0.0.1:${port}` });
    await second.close();
    expect(await ask(createTcpTransport({ port }), 1)).toBe(1);
  });

  it.each([
    "0.0.0.0",
    "::",
    "localhost",
    "10.0.0.1",
    "192.168.1.1",
    "128.0.0.1",
    "126.255.255.255",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "::ffff:10.0.0.1",
    "::1%lo",
    "fe80::1",
    "example.org",
    "127.0.0.1.example.org",
    " 127.0.0.1",
    "",
  ])("refuses the address %j", (host) => {
    for (const create of [() => createTcpListener({ host }), () => createTcpTransport({ host, port: 1 })]) {
      let thrown: unknown;
      try {
        create();
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(NotLoopbackError);
      expect(thrown).toMatchObject({ code: "not_loopback", host });
    }
  });

  it.each(["127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"])("takes %s", (host) => {
    expect(createTcpListener({ host }).endpoint).toBeUndefined();
    expect(createTcpTransport({ host, port: 1 })).toHaveProperty("connect");
  });

  it("refuses ports that are none", () => {
    for (const port of [-1, 65_536, 1.5, Number.NaN]) {
      expect(() => createTcpListener({ port })).toThrow(InvalidArgumentError);
      expect(() => createTcpTransport({ port })).toThrow(InvalidArgumentError);
    }
    expect(() => createTcpTransport({ port: 0 })).toThrow(InvalidArgumentError);
  });
});
