import { isAlive, readOwnFile } from "@harnesskit/node-kit";
import { engineNoticeFile, maxNoticeBytes } from "../engine/engine-notice.ts";

/** The engine that `harness engine` of this user serves. */
export interface RunningEngine {
  readonly url: string;
  readonly tokenFile: string | undefined;
}

/** What `harness engine` says of where it is. Undefined where there is none, or its process is gone. */
export const findRunningEngine = async (
  env: NodeJS.ProcessEnv = process.env,
): Promise<RunningEngine | undefined> => {
  try {
    const text = (await readOwnFile(engineNoticeFile(env), { maxBytes: maxNoticeBytes })).toString();
    const { url, tokenFile, pid } = JSON.parse(text) as Record<string, unknown>;
    if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
    return { url, tokenFile: typeof tokenFile === "string" ? tokenFile : undefined };
  } catch {
    return undefined;
  }
};
