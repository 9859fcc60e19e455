import { ModelError, parseModelSpec } from "@harnesskit/models";
import { createThreadServer } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { createWorkspaceTools } from "@harnesskit/workspace-agent";
import { usageError } from "../cli-error.ts";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { agents } from "../serve/agents.ts";
import { createModelChooser } from "../serve/model-chooser.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";

export interface ServeOptions {
  readonly cwd: string;
  /** The model of a turn that names none. */
  readonly model: string;
}

/** Checks a `--model` and returns it. Throws a usage error for one that cannot be a model. */
export const checkedModel = (spec: string): string => {
  try {
    parseModelSpec(spec);
    return spec;
  } catch (error) {
    if (ModelError.isInstance(error)) throw usageError(`--model: ${error.message}`);
    throw error;
  }
};

/**
 * `harness serve`: the thread protocol on standard input and output. Ends with the input, once what was asked is
 * answered and its turns have ended or wait for an approval; with a signal; or when the parent process is gone.
 */
export const serve = async ({ cwd, model }: ServeOptions): Promise<ExitCode> => {
  const defaultModel = checkedModel(model);
  const workspace = await workspaceDirectory(cwd);
  const channel = createStdioChannel();
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
