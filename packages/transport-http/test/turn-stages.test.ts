import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { AuthenticationRequest } from "../src/index.ts";
import { TurnStages } from "../src/node/turn-stages.ts";
import { echoCore, post, rawClient, startServer, token, until } from "./support.ts";

interface Work {
  readonly begin: () => void;
  readonly send?: () => void;
}

/** Stages of functions. */
const createStages = (now: () => number, room = 100) => {
  class Step extends AsyncResource {
    constructor(readonly work: Work) {
      super("TestStep");
    }
  }
  const stages = new TurnStages<Step>({
    clock: { now },
    room: () => room,
    begin: ({ work }) => work.begin(),
    send: ({ work }) => work.send?.(),
  });
  return {
    handle: (begin: () => void) => stages.handle(new Step({ begin })),
    answer: (send: () => void) => stages.answer(new Step({ begin: () => {}, send })),
  };
};

/** Stages whose handlers take `tookMs` each, or by name, and answer at once, and what happened in them. */
const startStages = (tookMs: number | ((name: number) => number), room = 100) => {
  let now = 0;
  const stages = createStages(() => now, room);
  const seen: string[] = [];
  const arrive = (name: number) =>
    stages.handle(() => {
      seen.push(`handle ${name}`);
      now += typeof tookMs === "number" ? tookMs : tookMs(name);
      stages.answer(() => seen.push(`answer ${name}`));
    });
  return { stages, seen, arrive };
};

/** How many were handled in a row, each time. */
const groupsIn = (seen: readonly string[]): number[] => {
  const words = seen.map((line) => line.split(" ")[0] ?? "").join(" ");
  return [...words.matchAll(/(?:handle ?)+/g)].map(([run]) => run.trim().split(" ").length);
};

const arriveTogether = async (
  tookMs: number | ((name: number) => number),
  count: number,
): Promise<number[]> => {
  const { seen, arrive } = startStages(tookMs);
  for (let name = 0; name < count; name++) arrive(name);
  await until(() => seen.length === 2 * count);
  return groupsIn(seen);
};

describe("the stages of a turn", () => {
  it("handle several and then answer those, 32 at most", async () => {
    // One, two, four and then eight at once.
    expect(await arriveTogether(0, 39 + 32 + 5)).toEqual([39, 32, 5]);
    expect(await arriveTogether(0, 3)).toEqual([3]);
  });

  it("answer after 4 milliseconds, and begin again with one at once", async () => {
    expect(await arriveTogether(1, 4 + 4 + 2)).toEqual([4, 4, 2]);
    expect(await arriveTogether(4, 3)).toEqual([1, 1, 1]);
  });

  it("handle each alone as soon as one blocks, whatever came before", async () => {
    // The first 39 let eight at once begin, and the next ones block.
    expect(await arriveTogether((name) => (name < 39 ? 0 : 200), 39 + 3)).toEqual([39, 1, 1, 1]);
  });

  it("do not let what is answered later wait for what runs behind it", async () => {
    const { stages, seen } = startStages(0);
    for (const name of ["a", "b"]) {
      setImmediate(async () => {
        seen.push(`runs ${name}`);
        for (let left = 3; left > 0; left--) await Promise.resolve();
        stages.answer(() => seen.push(`answer ${name}1`));
        stages.answer(() => seen.push(`answer ${name}2`));
      });
    }
    await until(() => seen.length === 6);
    expect(seen).toEqual(["runs a", "answer a1", "answer a2", "runs b", "answer b1", "answer b2"]);
  });

  it("begin no more at once than there is room for", async () => {
    for (const [room, groups] of [
      [2, [1, 2, 2, 2]],
      [0, [1, 1, 1, 1, 1, 1, 1]],
    ] as const) {
      let inTurn: number[] = [];
      const stages = createStages(() => 0, room);
      const begun: number[] = [];
      for (let left = 7; left > 0; left--) {
        stages.handle(() => {
          inTurn.push(left);
          queueMicrotask(() => {
            if (inTurn.length > 0) begun.push(inTurn.length);
            inTurn = [];
          });
        });
      }
      await until(() => begun.reduce((sum, count) => sum + count, 0) === 7);
      expect(begun).toEqual(groups);
    }
  });

  it("do all that arrived in one turn before the loop goes on, with what follows each at once", async () => {
    const { stages, seen, arrive } = startStages(0);
    for (let name = 0; name < 80; name++) arrive(name);
    const begin = async () => {
      for (let left = 20; left > 0; left--) await Promise.resolve();
      stages.answer(() => seen.push("answer last"));
    };
    stages.handle(() => void begin());
    await turn();
    await turn();
    expect(seen).toHaveLength(161);
    expect(seen.at(-1)).toBe("answer last");
  });

  it("do each once, in the order of arrival and of the answers, whenever those come", async () => {
    const arrival = fc.record({ turns: fc.nat({ max: 2 }), late: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 100 }), async (arrivals) => {
        const stages = createStages(() => 0, 5);
        const handled: number[] = [];
        const answered: number[] = [];
        const sent: number[] = [];
        const begin = async (name: number, late: number) => {
          handled.push(name);
          for (let left = late; left > 0; left--) await turn();
          answered.push(name);
          stages.answer(() => sent.push(name));
        };
        for (const [name, { turns, late }] of arrivals.entries()) {
          for (let left = turns; left > 0; left--) await turn();
          stages.handle(() => void begin(name, late));
        }
        await until(() => sent.length === arrivals.length);
        expect(handled).toEqual([...arrivals.keys()]);
        expect(sent).toEqual(answered);
      }),
      { numRuns: 50 },
    );
  });
});

describe("requests of one turn", () => {
  const startCounting = async () => {
    const handled: unknown[] = [];
    const handle = async (message: unknown) => {
      handled.push(message);
      return message;
    };
    const { port, close } = await startServer({ routes: { "/ahp": { handle } } });
    onTestFinished(close);
    return { handled, port };
  };

  it("are answered in their order on one connection, and all of them", async () => {
    const { handled, port } = await startCounting();
    using client = await rawClient(port);
    const names = Array.from({ length: 100 }, (_, index) => index);
    client.write(names.map((name) => post(port, `{"name":${name}}`)).join(""));
    await until(() => client.text().split("HTTP/1.1 200").length > names.length);
    expect([...client.text().matchAll(/\{"name":(\d+)\}/g)].map(([, name]) => Number(name))).toEqual(names);
    expect(handled).toHaveLength(names.length);
  });

  it("are whole wherever they are cut", async () => {
    const { handled, port } = await startCounting();
    using client = await rawClient(port);
    const text = post(port, '{"name":"cut"}');
    const places = [2, text.length - 14, text.length - 13, text.length - 5, text.length - 1];
    for (const [index, at] of places.entries()) {
      client.write(text.slice(0, at));
      for (let left = 5; left > 0; left--) await turn();
      client.write(text.slice(at));
      await until(() => handled.length === index + 1);
    }
    expect(handled).toEqual(places.map(() => ({ name: "cut" })));
  });

  it("are answered although their sender ends its side behind them, each on its connection or all on one", async () => {
    const { handled, port } = await startCounting();
    const clients = await Promise.all(Array.from({ length: 100 }, () => rawClient(port)));
    for (const [name, { socket }] of clients.entries()) socket.end(post(port, `{"name":${name}}`));
    await until(() => clients.every(({ closed, ended }) => closed || ended));
    for (const [name, client] of clients.entries()) {
      expect(client.text()).toContain(`{"name":${name}}`);
      client.socket.destroy();
    }
    using client = await rawClient(port);
    client.socket.end(Array.from({ length: 50 }, (_, name) => post(port, `{"name":${name}}`)).join(""));
    await client.untilGone();
    expect(client.text().split("HTTP/1.1 200")).toHaveLength(51);
    expect(handled).toHaveLength(150);
  });

  it("count as in flight only while they are handled", async () => {
    await using started = await startServer({ routes: { "/ahp": { handle: echoCore } }, maxInFlight: 2 });
    const { server, port } = started;
    const clients = await Promise.all(Array.from({ length: 50 }, () => rawClient(port)));
    for (const { write } of clients) write(post(port, '{"id":1}'));
    expect(await Promise.all(clients.map((client) => client.status()))).toEqual(clients.map(() => 200));
    expect(server.inFlight).toBe(0);
    for (const client of clients) client.socket.destroy();
  });

  it("are handled although their sender is gone, and their handlers learn that it is", async () => {
    const gone: string[] = [];
    const handle = (_message: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          gone.push(signal.aborted ? "told" : "untold");
          resolve(undefined);
        });
      });
    await using started = await startServer({ routes: { "/ahp": { handle } }, maxInFlight: 40 });
    const { server, port } = started;
    for (let left = 40; left > 0; left--) {
      const { socket } = await rawClient(port);
      socket.write(post(port, '{"id":1}'));
      socket.resetAndDestroy();
    }
    await until(() => server.connections === 0);
    await until(() => server.inFlight === 0);
    expect(gone.length).toBeLessThanOrEqual(40);
    expect(gone.every((word) => word === "told")).toBe(true);
  });

  it("leave nothing behind, nor end the process, where a client of many on one connection is gone", async () => {
    const handle = async (message: unknown) => message;
    await using started = await startServer({ routes: { "/ahp": { handle } } });
    const { server, port } = started;
    for (const request of [post(port, '{"id":1}'), post(port, '{"id":1}').replace(token, `${token}x`)]) {
      for (let left = 10; left > 0; left--) {
        const { socket } = await rawClient(port);
        socket.write(request.repeat(50));
        socket.resetAndDestroy();
      }
      await until(() => server.connections === 0);
    }
    expect(server.inFlight).toBe(0);
    using client = await rawClient(port);
    client.write(post(port, '{"id":2}'));
    expect(await client.status()).toBe(200);
  });

  it("run each in the async context that it came in, with its answer", async () => {
    const tenant = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const handle = async (message: unknown) => {
      seen.push([message, tenant.getStore()]);
      return message;
    };
    const replyHeaders = () => ({ "x-tenant": tenant.getStore() ?? "none" });
    const authenticate = (request: AuthenticationRequest) => {
      const name = request.header("user-agent");
      if (name !== undefined) tenant.enterWith(name);
      return { principal: undefined };
    };
    await using started = await startServer({ authenticate, routes: { "/ahp": { handle, replyHeaders } } });
    const { port } = started;
    const clients = await Promise.all(["alice", undefined, "bob", undefined].map(() => rawClient(port)));
    const names = ["alice", undefined, "bob", undefined];
    for (let round = 1; round <= 5; round++) {
      // The first rounds let the stages begin several at once.
      for (const [index, { write }] of clients.entries()) {
        const name = names[index];
        write(post(port, `{"name":${index}}`, ...(name === undefined ? [] : [`User-Agent: ${name}`])));
      }
      await until(() => clients.every(({ text }) => text().split("HTTP/1.1 200").length === round + 1));
    }
    expect(seen).toHaveLength(20);
    for (const [message, name] of seen as [{ name: number }, unknown][])
      expect(name).toBe(names[message.name]);
    for (const [index, client] of clients.entries()) {
      const told = [...client.text().matchAll(/x-tenant: (\w+)/g)].map(([, name]) => name);
      expect(told).toEqual(Array(5).fill(names[index] ?? "none"));
      client.socket.destroy();
    }
  });

  it("are answered although the answer of another fails, which loses its own connection only", async () => {
    const errors: unknown[] = [];
    await using started = await startServer({ onError: (error) => void errors.push(error) });
    const { port } = started;
    const clients = await Promise.all(Array.from({ length: 40 }, () => rawClient(port)));
    const failure = new Error("a patch of a tracer's fails");
    const patched = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementationOnce(() => {
      throw failure;
    });
    onTestFinished(() => patched.mockRestore());
    for (const [id, { write }] of clients.entries()) write(post(port, `{"id":${id}}`));
    await until(() => clients.every(({ closed, ended, text }) => closed || ended || text() !== ""));
    expect(clients.filter(({ text }) => text().startsWith("HTTP/1.1 200"))).toHaveLength(39);
    expect(errors).toEqual([failure]);
    for (const client of clients) client.socket.destroy();
  });
});
