import { createMemoryStore } from "@harnesskit/graph";
import { InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { echo } from "./support/graphs.ts";

describe("A graph that is no declared graph", () => {
  it("and is compiled already is refused with what to pass", () => {
    const graph = echo().compile() as never;
    const make = () => createChatHarness({ graph });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(
      "graph must be the result of defineGraph(…), without .compile(): the harness compiles it over its store",
    );
  });

  it.each([undefined, null, {}, "graph"])("and is %j is refused with what to pass", (graph) => {
    const make = () => createChatHarness({ graph: graph as never });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(
      graph === undefined
        ? 'createChatHarness needs the option "graph"'
        : "graph must be the result of defineGraph(…)",
    );
  });
});

describe("A store that is none", () => {
  it.each([
    ["a promise of one", Promise.resolve(createMemoryStore())],
    ["a path", "chat.db"],
    ["an empty string", ""],
    ["a store of something else", { sessions: {} }],
  ])("and is %s is refused with what to pass", (_, store) => {
    const make = () => createChatHarness({ graph: echo(), store: store as never });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow("store must be a GraphStore, such as `await openSqliteStore({ file })`");
  });
});
