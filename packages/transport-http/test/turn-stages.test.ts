import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TurnStages } from "../src/node/turn-stages.ts";
import { postHead, rawClient, startServer, until } from "./support.ts";

/** Stages whose handlers take `tookMs` each and answer at once, and what happened in them. */
const startStages = (tookMs: number) => {
  let now = 0;
  const stages = new TurnStages({ now: () => now });
  const seen: string[] = [];
  const arrive = (name: number) =>
    stages.handle(() => {
      seen.push(`handle ${name}`);
      now += tookMs;
      stages.answer(() => seen.push(`answer ${name}`));
    });
  return { stages, seen, arrive };
};

/** How many were handled in a row, each time. */
const groupsIn = (seen: readonly string[]): number[] => {
  const words = seen.map((line) => line.split(" ")[0] ?? "").join(" ");
  return [...words.matchAll(/(?:handle ?)+/g)].map(([run]) => run.trim().split(" ").length);
};

const arriveTogether = async (tookMs: number, count: number): Promise<number[]> => {
  const { seen, arrive } = startStages(tookMs);
  for (let name = 0; name < count; name++) arrive(name);
  await until(() => seen.length === 2 * count);
  return groupsIn(seen);
};

describe("the stages of a turn", () => {
  it("handle several and then answer those, more at a time while that is quick, and 32 at most", async () => {
    expect(await arriveTogether(0, 8 + 16 + 32 + 32 + 5)).toEqual([8, 16, 32, 32, 5]);
    expect(await arriveTogether(0, 3)).toEqual([3]);
  });

  it("answer each before the next is handled where handlers are slow", async () => {
    expect(await arriveTogether(4, 8 + 4 + 2 + 3)).toEqual([8, 4, 2, 1, 1, 1]);
    expect(await arriveTogether(1, 8 + 4 + 2 + 4)).toEqual([8, 4, 2, 4]);
  });

  it("take a size for slow only by what was full", async () => {
    const { seen, arrive } = startStages(4);
    for (let name = 0; name < 5; name++) {
      arrive(name);
      await until(() => seen.length === 2 * (name + 1));
    }
    seen.length = 0;
    for (let name = 0; name < 8; name++) arrive(name);
    await until(() => seen.length === 16);
    expect(groupsIn(seen)).toEqual([8]);
  });

  it("do each once, in the order of arrival and of the answers, whenever those come", async () => {
    const arrival = fc.record({ turns: fc.nat({ max: 2 }), late: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 100 }), async (arrivals) => {
        const stages = new TurnStages({ now: () => 0 });
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
    const server = await startServer({ routes: { "/ahp": { handle } } });
    return { handled, port: server.port ?? 0 };
  };

  const post = (port: number, body: string): string =>
    postHead(port, `Content-Length: ${body.length}`) + body;

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

  it("are handled although their sender ends its side behind them", async () => {
    const { handled, port } = await startCounting();
    using client = await rawClient(port);
    client.socket.end(post(port, '{"name":"last"}'));
    await until(() => client.text().includes('{"name":"last"}'));
    expect(handled).toEqual([{ name: "last" }]);
  });
});
