import { readFile } from "node:fs/promises";
import { engineNoticeFile } from "../engine/engine-notice.ts";

/** The engine that `harness engine` of this user serves. */
export interface RunningEngine {
  readonly url: string;
  readonly tokenFile: string | undefined;
}

const isGone = (pid: unknown): boolean => {
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EPERM");
  }
};

/** What `harness engine` says of where it is. Undefined where there is none, or its process is gone. */
export const findRunningEngine = async (
  env: NodeJS.ProcessEnv = process.env,
): Promise<RunningEngine | undefined> => {
  try {
    const text = await readFile(engineNoticeFile(env), "utf8");
    const { url, tokenFile, pid } = JSON.parse(text) as Record<string, unknown>;
    if (typeof url !== "string" || isGone(pid)) return undefined;
    return { url, tokenFile: typeof tokenFile === "string" ? tokenFile : undefined };
  } catch {
    return undefined;
  }
};
