import { versionProblem } from "@harnesskit/agent-hooks";
import { programVersion } from "@harnesskit/guard/doctor";
import type { FoundAgent } from "@harnesskit/guard/settings";
import { oneLine } from "../terminal/text.ts";

/** The version of an agent's program, and why its hooks do not protect. */
export interface HostVersion {
  /** Undefined where the program is not there, or does not say it. */
  readonly version: string | undefined;
  readonly problem: string | undefined;
}

/** Asks the agent's program for its version. Never rejects. */
export const readHostVersion = async ({ host, program }: FoundAgent): Promise<HostVersion> => {
  const asked = program === undefined ? undefined : programVersion({ program });
  const version = oneLine((await asked?.catch(() => undefined)) ?? "", 60) || undefined;
  return { version, problem: version === undefined ? undefined : versionProblem(host, version) };
};
