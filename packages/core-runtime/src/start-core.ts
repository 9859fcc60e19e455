import { RunningCore } from "./core.ts";
import { CoreContext } from "./core-context.ts";
import type { CoreOptions } from "./core-options.ts";
import { baseDirectories, makeCoreDirectory, sweepCores } from "./launch/core-directory.ts";
import { checkCoreOptions } from "./option-names.ts";

/**
 * Starts a core: listens on a Unix socket in a fresh private directory, and starts the agents of the given directories.
 * It resolves when all manifests were read and the processes are being started; `ready()` resolves when
 * they serve.
 *
 * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid` for the first manifest
 * that cannot be used, `agent_exists` for two of one agent, `invalid_argument`, or `transport_failed` when the socket
 * cannot be made. Then nothing is left running.
 *
 * It handles neither signals nor the end of this process: call `close()` there. Where that does not
 * happen, with `process.exit` or SIGKILL, each agent's guard kills the agent and what it started, and the next core
 * that starts removes the directory that was left.
 */
export const startCore = async (options: CoreOptions = {}): Promise<RunningCore> => {
  // Before a directory is made.
  const context = new CoreContext(checkCoreOptions(options));
  const bases = baseDirectories(process.env, options.socketDirectory);
  await sweepCores(bases);
  const core = new RunningCore(context, await makeCoreDirectory(bases));
  await core.start(options.agents ?? []);
  return core;
};
