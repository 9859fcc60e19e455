import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isAlive, makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { io } from "../io.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** Where an engine can be reached. The token itself is not in it. */
export interface EngineNotice {
  readonly url: string;
  readonly tokenFile: string | null;
  readonly pid: number;
  /** The state's directory of the hub that judges, so that a shell shows what waits there. */
  readonly hub?: string | undefined;
}

/** Bytes of a notice. */
const maxNoticeBytes = 64 * 1024;

/** Where the engine that was started last says how it is reached. */
export const engineNoticeFile = (env?: NodeJS.ProcessEnv): string => stateDirectory("engine.json", env);

/** Writes where an engine is reached, for shells of this user without --engine. Returns what removes it. Rejects as the disk does. */
export const leaveEngineNotice = async (
  notice: EngineNotice,
  file = engineNoticeFile(),
): Promise<() => Promise<void>> => {
  const text = `${JSON.stringify(notice)}\n`;
  await makeDirectory(dirname(file));
  await writeFileAtomic(file, text);
  return async () => {
    try {
      // Another engine may have been started since.
      if ((await readOwnFile(file, { maxBytes: maxNoticeBytes })).toString() === text) await rm(file);
    } catch {
      // What is left of it names a port without a listener.
    }
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
  try {
    const text = (await readOwnFile(engineNoticeFile(env), { maxBytes: maxNoticeBytes })).toString();
    const { url, tokenFile, pid, hub } = JSON.parse(text) as Record<string, unknown>;
    if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
    return {
      url,
      tokenFile: typeof tokenFile === "string" ? tokenFile : undefined,
      hub: typeof hub === "string" ? hub : undefined,
    };
  } catch {
    return undefined;
  }
};
