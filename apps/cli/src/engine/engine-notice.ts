import { rm } from "node:fs/promises";
import { isAlive } from "@harnesskit/node-kit";
import { readStateJson, writeStateJson } from "../state-files.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** The engine that `harness engine` of this user serves. The token itself is not in it. */
export interface RunningEngine {
  readonly url: string;
  readonly tokenFile?: string | undefined;
  /** The state's directory of the hub that judges, so that a shell shows what waits there. */
  readonly hub?: string | undefined;
  /** Where its conversations are kept: the same for an engine that is started again, on another port. */
  readonly conversations?: string | undefined;
}

interface EngineNotice extends RunningEngine {
  readonly pid: number;
}

/** Where the engine that was started last says how it is reached. */
export const engineNoticeFile = (env?: NodeJS.ProcessEnv): string => stateDirectory("engine.json", env);

const readNotice = async () => (await readStateJson(engineNoticeFile())) as EngineNotice | undefined;

/** Writes where an engine of this process is reached, for shells of this user without --engine. Returns what removes it. Rejects as the disk does. */
export const leaveEngineNotice = async (engine: RunningEngine): Promise<() => Promise<void>> => {
  await writeStateJson(engineNoticeFile(), { ...engine, pid: process.pid } satisfies EngineNotice);
  return async () => {
    // Another engine may have been started since. What cannot be removed names a port without a listener.
    const found = await readNotice();
    if (found?.pid === process.pid && found.url === engine.url) await rm(engineNoticeFile()).catch(() => {});
  };
};

/** Where `harness engine` is reached; undefined if none runs. */
export const findRunningEngine = async (): Promise<RunningEngine | undefined> => {
  const found = await readNotice();
  return found !== undefined && isAlive(found.pid) ? found : undefined;
};
