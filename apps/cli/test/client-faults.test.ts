import { type ChannelHandlers, HarnessError, InvalidMessageError } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClientFaults } from "../src/serve/client-faults.ts";

const fault = new InvalidMessageError("not_json", "a message is not JSON");

const begin = () => {
  const lines: string[] = [];
  const faults = new ClientFaults("serve", (line) => lines.push(line));
  /** A client that can send what the server does not like. */
  const client = () => {
    const { client: far, server: near } = createMemoryPair();
    const watched = faults.watch(near);
    const handlers: ChannelHandlers = {
      message: () => faults.tell(fault),
      error: (error) => faults.tell(error),
      close: () => {},
    };
    watched.start(handlers);
    far.start({ message() {}, error() {}, close() {} });
    return { watched, far };
  };
  return { lines, faults, client };
};

describe("the faults of clients", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.clearAllTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are told five times for each client, the rest is counted at its end", async () => {
    const { lines, client } = begin();
    const [loud, quiet] = [client(), client()];
    for (let count = 0; count < 12; count++) await loud.far.send({});
    await quiet.far.send({});
    expect(lines).toHaveLength(6);
    await loud.far.close();
    await loud.watched.closed;
    await quiet.far.close();
    await quiet.watched.closed;
    expect(lines.slice(6)).toEqual(["serve: … and 7 more of this client"]);
  });

  it("are told thirty times a minute over all clients, with or without a client that is known", async () => {
    const { lines, faults } = begin();
    for (let count = 0; count < 4_261; count++) faults.tell(fault);
    expect(lines).toHaveLength(30);
    expect(lines[0]).toBe("serve: a message is not JSON (invalid_message)");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines.slice(30)).toEqual(["serve: … and 4,231 more of all clients"]);
    // Of its own: what other tests have left behind may have timers too.
    const others = vi.getTimerCount();
    faults.tell(fault);
    expect(vi.getTimerCount()).toBe(others + 1);
    expect(lines).toHaveLength(32);
    faults.end();
    expect(lines).toHaveLength(32);
    expect(vi.getTimerCount()).toBe(others);
  });

  it("do not hide what fails in the server itself", () => {
    const { lines, faults } = begin();
    for (let count = 0; count < 100; count++) faults.tell(fault);
    faults.tell(new HarnessError("store_failed", "the disk is full"));
    expect(lines.at(-1)).toBe("serve: the disk is full (store_failed)");
  });
});
