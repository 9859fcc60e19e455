import { rm } from "node:fs/promises";
import { isAlive } from "@harnesskit/node-kit";
import { isObject } from "@harnesskit/wire/json";
import { io } from "../io.ts";
import { readStateJson, writeStateJson } from "../state-json.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** Where an engine can be reached. The token itself is not in it. */
export interface EngineNotice {
  readonly url: string;
  readonly tokenFile: string | null;
  readonly pid: number;
  /** The state's directory of the hub that judges, so that a shell shows what waits there. */
  readonly hub?: string | undefined;
}

/** Where the engine that was started last says how it is reached. */
export const engineNoticeFile = (env?: NodeJS.ProcessEnv): string => stateDirectory("engine.json", env);

/** Writes where an engine is reached, for shells of this user without --engine. Returns what removes it. Rejects as the disk does. */
export const leaveEngineNotice = async (
  notice: EngineNotice,
  file = engineNoticeFile(),
): Promise<() => Promise<void>> => {
  await writeStateJson(file, notice);
  return async () => {
    // Another engine may have been started since. What cannot be removed names a port without a listener.
    const found = await readStateJson(file);
    if (isObject(found) && found.pid === notice.pid && found.url === notice.url)
      await rm(file).catch(() => {});
  };
};

/** The engine that `harness engine` of this user serves. */
export interface RunningEngine {
  readonly url: string;
  readonly tokenFile: string | undefined;
  /** The state's directory of the hub that judges what it does. */
  readonly hub?: string | undefined;
}

/** Where `harness engine` is reached; undefined if none runs. */
export const findRunningEngine = async (
  env: NodeJS.ProcessEnv = io().env,
): Promise<RunningEngine | undefined> => {
  const found = await readStateJson(engineNoticeFile(env));
  if (!isObject(found)) return undefined;
  const { url, tokenFile, pid, hub } = found;
  if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
  return {
    url,
    tokenFile: typeof tokenFile === "string" ? tokenFile : undefined,
    hub: typeof hub === "string" ? hub : undefined,
  };
};
