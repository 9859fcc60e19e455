import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";

/** Where an engine can be reached. The token itself is not in it. */
export interface EngineNotice {
  readonly url: string;
  /** Null for an engine without a token. */
  readonly tokenFile: string | null;
  readonly pid: number;
}

/** Bytes of a notice. */
export const maxNoticeBytes = 64 * 1024;

/** Where the engine that was started last says how it is reached: outside of every workspace. */
export const engineNoticeFile = (env: NodeJS.ProcessEnv = process.env): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "harnesskit", "engine.json");
};

/** Says where an engine is reached, for shells of this user that are not told. Gives what takes that back. Rejects as the disk does. */
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
      // What is left of it names a port that nobody listens on.
    }
  };
};
