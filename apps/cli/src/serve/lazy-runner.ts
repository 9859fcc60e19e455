import type { TurnRunner } from "@harnesskit/thread-server";
import type { createModelChooser } from "./model-chooser.ts";
import { readWorkspaceFile } from "./read-workspace-file.ts";

/** A runner whose code is loaded when it is first needed, or asked for. */
export interface LazyRunner extends TurnRunner {
  /** Loads it ahead. A failure is told by the turn that needs it. */
  load(): void;
}

/** The agent loop, which is large: a client is answered before it is there. */
export const createLazyRunner = (model: ReturnType<typeof createModelChooser>): LazyRunner => {
  let loading: Promise<TurnRunner> | undefined;
  const loaded = () => {
    loading ??= import("@harnesskit/thread-server/ai-sdk").then(({ createAiSdkRunner }) =>
      createAiSdkRunner({
        model,
        attachments: { read: ({ path, uri }, scope) => readWorkspaceFile(path ?? uri ?? "", scope) },
      }),
    );
    return loading;
  };
  return {
    load: () => void loaded().catch(() => {}),
    accept: async (request) => (await loaded()).accept?.(request),
    run: async (turn) => (await loaded()).run(turn),
  };
};
