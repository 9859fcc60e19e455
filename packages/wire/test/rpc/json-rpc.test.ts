import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { methodNotFound, ProtocolError } from "../../src/index.ts";
import type { PeerHandlers } from "../../src/rpc/peer-options.ts";
import { comparable, exampleServer, examples } from "./json-rpc-examples.ts";
import { notification, openPeers, openRaw, outcomeOf, request, result } from "./support.ts";

describe("the published examples", () => {
  it.each(examples)("%s", async (_name, text, expected) => {
    const { giveText } = openRaw(exampleServer);
    const sent = await giveText(`${text.replaceAll("\n", " ")}\n`);
    expect(sent.map(comparable)).toEqual(expected.map(comparable));
  });
});

describe("the request object", () => {
  it("has member names in lower case only", async () => {
    const { give } = openRaw(exampleServer);
    expect(
      await give({ JSONRPC: "2.0", method: "sum", id: 1 }, { jsonrpc: "2.0", Method: "sum", id: 2 }),
    ).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 2, error: { code: -32600 } },
    ]);
    // With `ID` it has no id, and so is a notification.
    expect(await give({ jsonrpc: "2.0", method: "sum", ID: 3 })).toHaveLength(2);
  });

  it.each([undefined, "1.0", "2", 2, 2.0, null, "2.0 "])(
    "with the version %j is refused",
    async (jsonrpc) => {
      const { give } = openRaw(exampleServer);
      expect(await give({ jsonrpc, method: "sum", params: [], id: 1 })).toMatchObject([
        { id: 1, error: { code: -32600 } },
      ]);
    },
  );

  it("that we send has the version 2.0, an integer as its id, and params only if there are any", async () => {
    const { peer, sent } = openRaw();
    for (let count = 0; count < 3; count++) void outcomeOf(peer.request("a"));
    void outcomeOf(peer.request("b", []));
    await nextTurn();
    const ids = sent.map((message) => (message as { id: unknown }).id);
    expect(sent).toEqual([...ids.slice(0, 3).map((id) => request(id, "a")), request(ids[3], "b", [])]);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(Number.isInteger(id)).toBe(true);
  });

  it.each([1, null, true, [], {}])("with the method %j is refused", async (method) => {
    const { give } = openRaw(exampleServer);
    expect(await give({ jsonrpc: "2.0", method, id: 1 })).toMatchObject([{ id: 1, error: { code: -32600 } }]);
  });

  it.each(["", "1", 0, 1, -1, 2.5, 9007199254740991, null])(
    "with the id %j is answered under it",
    async (id) => {
      const { giveText } = openRaw(exampleServer);
      const sent = await giveText(
        `{"jsonrpc":"2.0","method":"sum","params":[1,2],"id":${JSON.stringify(id)}}\n`,
      );
      expect(sent).toStrictEqual([{ jsonrpc: "2.0", id, result: 3 }]);
    },
  );

  it.each([true, [], {}, [1]])("with the id %j is refused under null", async (id) => {
    const { give } = openRaw(exampleServer);
    expect(await give(request(id, "sum", []))).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });

  it.each([
    ["that is known", notification("sum", [1])],
    ["that is unknown", notification("nothing")],
    ["that fails", notification("fails")],
    ["in a batch", [notification("sum"), notification("fails")]],
  ])("without an id is a notification, never answered: one %s", async (_what, message) => {
    const seen: string[] = [];
    const { give } = openRaw({
      ...exampleServer,
      notification: (method) => {
        seen.push(method);
        if (method === "fails") throw new ProtocolError(-1, "no");
      },
    });
    await give(message);
    expect(await give(request("after", "sum", [2]))).toEqual([result("after", 2)]);
    expect(seen).toEqual([message].flat().map(({ method }) => method));
  });
});

describe("params", () => {
  it("that are null are absent, of requests and notifications", async () => {
    const seen: unknown[] = [];
    const { give } = openRaw({
      request: (method, params) => void seen.push([method, params]),
      notification: (method, params) => void seen.push([method, params]),
    });
    const envelope = { jsonrpc: "2.0", params: null };
    expect(await give({ ...envelope, id: 1, method: "a" }, { ...envelope, method: "b" })).toEqual([
      { jsonrpc: "2.0", id: 1, result: null },
    ]);
    expect(seen).toEqual([
      ["a", undefined],
      ["b", undefined],
    ]);
  });

  it.each(["text", 1, true])("of %j are refused", async (params) => {
    const { give } = openRaw(exampleServer);
    expect(await give({ jsonrpc: "2.0", method: "sum", params, id: 1 })).toMatchObject([
      { id: 1, error: { code: -32600 } },
    ]);
  });
});

describe("the response object", () => {
  const server: PeerHandlers = {
    request(method) {
      if (method === "own") throw new ProtocolError(-32050, "own trouble", { data: { at: [1] } });
      if (method === "application") throw new ProtocolError(7, "app");
      if (method === "internal") throw new RangeError("secret");
      if (method === "none") throw methodNotFound(method);
      return method === "nothing" ? undefined : "fine";
    },
  };

  it.each(["fine", "nothing"])("of a success (%s) has a result and no error", async (method) => {
    const { give } = openRaw(server);
    const [answer] = await give(request(1, method));
    expect(answer).toStrictEqual({ jsonrpc: "2.0", id: 1, result: method === "nothing" ? null : "fine" });
  });

  it.each([
    ["own", -32050],
    ["application", 7],
    ["internal", -32603],
    ["none", -32601],
  ])("of a failure (%s) has an error and no result", async (method, code) => {
    const { give } = openRaw(server);
    const [answer] = (await give(request(1, method))) as {
      error: { code: number; message: string; data?: unknown };
    }[];
    expect(Object.keys(answer ?? {})).toEqual(["jsonrpc", "id", "error"]);
    expect(answer).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code } });
    expect(Number.isInteger(answer?.error.code)).toBe(true);
    expect(typeof answer?.error.message).toBe("string");
    expect(answer?.error.message).not.toMatch(/\n|secret/);
    expect(answer?.error.message.length).toBeLessThan(200);
    expect(answer?.error.data).toEqual(method === "own" ? { at: [1] } : undefined);
  });

  it("without an id, for a notification that is refused, ends no request that waits", async () => {
    const { peer, give } = openRaw();
    const answer = peer.request("m");
    const [sent] = await give({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "unreadable" } });
    await give({ jsonrpc: "2.0", id: (sent as { id: number }).id, result: "fine" });
    expect(await answer).toBe("fine");
  });

  it("reaches the caller with its code, message and data as they are", async () => {
    for (const data of [{ at: [1] }, "text", 0, null, false, undefined]) {
      for (const code of [-32000, -32099, -1, 7]) {
        const { client } = openPeers({
          server: {
            request: () => {
              throw new ProtocolError(code, "own", data === undefined ? {} : { data });
            },
          },
        });
        const { error: own } = (await outcomeOf(client.request("x"))) as { error: ProtocolError };
        expect(own).toMatchObject({ rpcCode: code, message: "own" });
        expect("data" in own ? own.data : undefined).toEqual(data);
      }
    }
  });

  it("is a result beside an error that is null, and an error beside a result that is null", async () => {
    const { peer, give } = openRaw();
    const requests = ["a", "b", "c"].map((method) => outcomeOf(peer.request(method)));
    await nextTurn();
    const error = { code: -32000, message: "no" };
    await give(
      { jsonrpc: "2.0", id: 1, result: { a: 1 }, error: null, method: null },
      { jsonrpc: "2.0", id: 2, result: null, error },
      { jsonrpc: "2.0", id: 3, result: null, error: null },
    );
    expect(await Promise.all(requests)).toMatchObject([
      { value: { a: 1 } },
      { error: { name: "ProtocolError", rpcCode: -32000 } },
      { value: null },
    ]);
  });

  it("with both a result and an error, or neither, is no answer", async () => {
    const { peer, give } = openRaw();
    const both = outcomeOf(peer.request("a"));
    await nextTurn();
    await give({ jsonrpc: "2.0", id: 1, result: 1, error: { code: 1, message: "x" } });
    await expect(both).resolves.toMatchObject({ error: { code: "invalid_message" } });
    const neither = outcomeOf(peer.request("b"));
    await nextTurn();
    const sent = await give({ jsonrpc: "2.0", id: 2 }, result(2, "the answer"));
    await expect(neither).resolves.toEqual({ value: "the answer" });
    expect(sent.at(-1)).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  it("to what is not JSON is -32700 with the id null", async () => {
    const { giveText } = openRaw(server);
    for (const text of ["{", '{"id":1', "[", '[{"id":1},', "undefined", "'x'"]) await giveText(`${text}\n`);
    const sent = await giveText("");
    expect(sent).toHaveLength(6);
    for (const answer of sent)
      expect(answer).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
  });
});

describe("a batch", () => {
  it("with invalid entries answers each of them, and handles the others", async () => {
    const { give } = openRaw(exampleServer);
    const sent = await give([
      1,
      request(1, "sum", [1]),
      [],
      { jsonrpc: "2.0", method: 1, id: "own" },
      "text",
    ]);
    expect(sent).toMatchObject([
      [
        { id: null, error: { code: -32600 } },
        { id: 1, result: 1 },
        { id: null, error: { code: -32600 } },
        { id: "own", error: { code: -32600 } },
        { id: null, error: { code: -32600 } },
      ],
    ]);
  });
});
