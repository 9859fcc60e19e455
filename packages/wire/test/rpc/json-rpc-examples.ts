import { invalidParams, methodNotFound } from "../../src/index.ts";
import type { PeerHandlers } from "../../src/rpc/peer-options.ts";
import { error } from "./support.ts";

const sum = (values: unknown[]): number => values.reduce<number>((total, value) => total + Number(value), 0);

/** The server that the examples of section 7 talk to. */
export const exampleServer: PeerHandlers = {
  request(method, params) {
    const list = Array.isArray(params) ? params : [];
    if (method === "subtract") {
      const named = (Array.isArray(params) ? {} : params) as { minuend?: number; subtrahend?: number };
      const [minuend = named.minuend, subtrahend = named.subtrahend] = list as number[];
      if (minuend === undefined || subtrahend === undefined)
        throw invalidParams("minuend and subtrahend are needed");
      return minuend - subtrahend;
    }
    if (method === "sum") return sum(list);
    if (method === "get_data") return ["hello", 5];
    throw methodNotFound(method);
  },
  notification() {},
};

/** Section 7, as published; of an error, its code and the words at its beginning. */
export const examples: [string, string, unknown[]][] = [
  [
    "call with positional parameters",
    '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
    [{ jsonrpc: "2.0", result: 19, id: 1 }],
  ],
  [
    "call with positional parameters, the other way round",
    '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}',
    [{ jsonrpc: "2.0", result: -19, id: 2 }],
  ],
  [
    "call with named parameters",
    '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
    [{ jsonrpc: "2.0", result: 19, id: 3 }],
  ],
  [
    "call with named parameters in another order",
    '{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}',
    [{ jsonrpc: "2.0", result: 19, id: 4 }],
  ],
  ["notification", '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', []],
  ["notification without parameters", '{"jsonrpc": "2.0", "method": "foobar"}', []],
  [
    "call of a non-existent method",
    '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
    [error("1", -32601)],
  ],
  [
    "call with invalid JSON",
    '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
    [error(null, -32700)],
  ],
  ["call with an invalid request", '{"jsonrpc": "2.0", "method": 1, "params": "bar"}', [error(null, -32600)]],
  [
    "batch with invalid JSON",
    '[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]',
    [error(null, -32700)],
  ],
  ["empty array", "[]", [error(null, -32600)]],
  ["invalid batch that is not empty", "[1]", [[error(null, -32600)]]],
  ["invalid batch", "[1,2,3]", [[error(null, -32600), error(null, -32600), error(null, -32600)]]],
  [
    "batch",
    `[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
       {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
       {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
       {"foo": "boo"},
       {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
       {"jsonrpc": "2.0", "method": "get_data", "id": "9"} ]`,
    [
      [
        { jsonrpc: "2.0", result: 7, id: "1" },
        { jsonrpc: "2.0", result: 19, id: "2" },
        error(null, -32600),
        error("5", -32601),
        { jsonrpc: "2.0", result: ["hello", 5], id: "9" },
      ],
    ],
  ],
  [
    "batch of notifications",
    `[ {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
       {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]} ]`,
    [],
  ],
];

/** Errors by their code alone; how they are worded is the implementation's choice. */
export const comparable = (message: unknown): unknown => {
  if (Array.isArray(message)) return message.map(comparable);
  const { error: own, ...rest } = message as { error?: { code: number } };
  return own ? { ...rest, error: own.code } : rest;
};
