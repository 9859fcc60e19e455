import { expect, it } from "vitest";
import { createWorkspaceAgent } from "../../apps/workspace-agent/src/index.ts";
import { tool } from "../../packages/agent-sdk/src/index.ts";
import { defineGraph, defineState, END, type StartOptions } from "../../packages/graph/src/index.ts";
import { createShellClient } from "../../packages/shell-client/src/index.ts";
import { createShellEngine } from "../../packages/shell-engine/src/index.ts";
import { InvalidArgumentError } from "../../packages/wire/src/index.ts";
import { entries } from "./entries.ts";

/** Constructors that take no options but arguments, and those of packages that import nothing of ours. */
const withoutOptions = new Set([
  ...["createMemoryGrants", "createMemoryThreadStore"],
  ...["createChatFeed", "createDirectoryResolver", "createTokenAuthenticate", "createActionRegistry"],
  ...["createSentLog", "openSentLog", "createInstallRecords", "startScriptedModel", "createBoundedFetch"],
  ...["createFileAtomic", "openOwnFile", "createModel", "createOfflineModel"],
  ...["createByteChannel", "createMessageCodec", "createDeferred", "createStreamPipe", "startDeadline"],
  ...["createFaultyTransport", "createManualClock", "createMemoryPair"],
  ...["createMemoryTransport", "createRedactor", "openPushKeys", "startSpan"],
  ...["openTimelineReader", "startOfCall"],
]);

/** Where the options stand, when they are not the first argument. */
const positions: Readonly<Record<string, number>> = {
  createApprovalStore: 1,
  createSupervisor: 1,
  startNodeTelemetry: 1,
  createHookHandler: 2,
  createPeer: 2,
  superviseModel: 2,
  superviseTools: 2,
};

type Constructor = (...args: unknown[]) => unknown;

const constructors = async (): Promise<Map<string, Constructor>> => {
  const found = new Map<string, Constructor>();
  for (const entry of entries()) {
    for (const [name, value] of Object.entries(await import(entry))) {
      if (
        /^(?:create|open|start|connect|serve|listen|supervise)[A-Z]/.test(name) &&
        typeof value === "function"
      )
        found.set(`${entry.replace(/^.*\/packages\//, "")} ${name}`, value as Constructor);
    }
  }
  return found;
};

/** Called inside a promise, so that a rejection and a throw are the same. */
const refusalOf = async (create: Constructor, position: number): Promise<unknown> => {
  const args = Array.from({ length: position }, () => ({ decide: () => {} }));
  try {
    await create(...args, { notAnOption: true });
  } catch (error) {
    return error;
  }
  return undefined;
};

it("every exported constructor refuses an unknown option by its name", async () => {
  const accepting: string[] = [];
  for (const [place, create] of await constructors()) {
    const name = place.split(" ")[1] ?? "";
    if (withoutOptions.has(name)) continue;
    const error = await refusalOf(create, positions[name] ?? 0);
    const isRefusal =
      InvalidArgumentError.isInstance(error) && error.message.includes('"notAnOption" is not an option');
    if (!isRefusal) accepting.push(`${place}: ${String(error)}`);
  }
  expect(accepting).toEqual([]);
});

it("refuses unknown names where options stand inside of others", () => {
  const graph = defineGraph(defineState({}))
    .node("a", () => ({}))
    .entry("a")
    .edge("a", END);
  const input = { type: "object" } as const;
  const calls: Readonly<Record<string, (unknown: object) => unknown>> = {
    tool: (unknown) => tool({ name: "a", description: "", input, run: () => ({}), ...unknown }),
    compile: (unknown) => graph.compile(unknown),
    session: (unknown) => graph.compile({ session: unknown }),
    handlers: (unknown) => createShellEngine({ handlers: unknown }),
    approvalPolicy: (unknown) =>
      createShellClient({ engine: createShellEngine({ handlers: {} }), approvalPolicy: unknown }),
    createWorkspaceAgent: (unknown) => createWorkspaceAgent(unknown),
  };
  for (const [owner, call] of Object.entries(calls)) {
    let error: unknown;
    try {
      call({ notAnOption: true });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(error).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(`${owner}: "notAnOption"`),
    });
  }
});

it("a run of a graph refuses an option that it does not know", async () => {
  const graph = defineGraph(defineState({}))
    .node("a", () => ({}))
    .entry("a")
    .edge("a", END)
    .compile();
  const refused = graph.invoke({ session: "s1" } as StartOptions);
  await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(refused).rejects.toThrow('invoke: "session" is not an option');
});
