import { createThreadServer } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import type { Channel } from "@harnesskit/wire";
import { createWorkspaceTools } from "@harnesskit/workspace-agent";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { checkedModel } from "../model-option.ts";
import { agents } from "../serve/agents.ts";
import { createModelChooser } from "../serve/model-chooser.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";

export interface ServeOptions {
  readonly cwd: string;
  /** The model of a turn that names none. */
  readonly model: string;
}

/**
 * `harness serve`: the thread protocol on standard input and output. Ends with the input, once what was asked is
 * answered and its turns have ended or wait for an approval; with a signal; or when the parent process is gone.
 * Takes the channel, not yet started, so that it can be opened before all of this is loaded.
 */
export const serve = async ({ cwd, model }: ServeOptions, channel: Channel): Promise<ExitCode> => {
  const defaultModel = checkedModel(model);
  const workspace = await workspaceDirectory(cwd);
  const server = createThreadServer({
    store: createFileThreadStore({ root: harnessDirectory(workspace) }),
    resolveDirectory: createDirectoryResolver(workspace),
    runner: createAiSdkRunner({ model: createModelChooser({ defaultModel, env: process.env }) }),
    tools: createWorkspaceTools(),
    agents,
    onError: (error) => logFailure("harness serve", error),
  });
  const ignoreSignals = onStopSignals(() => void server.close());
  server.connect(channel);
  const { error } = await channel.closed;
  await server.close();
  ignoreSignals();
  if (error === undefined) return ExitCode.done;
  logFailure("harness serve", error);
  return ExitCode.failed;
};
