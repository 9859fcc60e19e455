import { expect, it } from "vitest";
import { InvalidArgumentError } from "../../packages/wire/src/index.ts";
import { entries } from "./entries.ts";

/** Constructors that take no options but arguments, and those of packages that import nothing of ours. */
const withoutOptions = new Set([
  ...["createMemoryGrants", "createMemoryThreadStore"],
  ...["createChatFeed", "createDirectoryResolver", "createTokenAuthenticate", "createActionRegistry"],
  ...["createSentLog", "openSentLog", "createInstallRecords", "startScriptedModel", "createBoundedFetch"],
  ...["createFileAtomic", "openOwnFile", "createModel", "createOfflineModel"],
  ...["createByteChannel", "createMessageCodec", "createDeferred", "createStreamPipe", "startDeadline"],
  ...["createFaultyTransport", "createManualClock", "createMemoryPair", "createMemoryPipes"],
  ...["createMemoryTransport", "openPushKeys", "startSpan"],
  ...["openTimelineReader", "startOfCall"],
]);

/** Where the options stand, when they are not the first argument. */
const positions: Readonly<Record<string, number>> = {
  createApprovalStore: 1,
  createRunReporter: 1,
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
