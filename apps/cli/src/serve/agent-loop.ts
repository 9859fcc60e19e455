import { type AgentProfile, defaultAgent, type TurnRunner } from "@harnesskit/thread-server";
import type { AiSdkRunnerOptions } from "@harnesskit/thread-server/ai-sdk";
import type { AttachmentScope } from "@harnesskit/wire";
import type { createModelChooser } from "./models.ts";

const askAgent: AgentProfile = {
  name: "ask",
  systemPrompt:
    "You answer questions about the files of one directory. You can read and search, and you cannot change anything. " +
    "Look before you answer, and name the files that your answer rests on.",
  tools: ["read", "glob", "grep"],
};

/** The profiles of the harness, the default first. */
export const agents: readonly [AgentProfile, ...AgentProfile[]] = [defaultAgent, askAgent];

/**
 * The bytes of a file that a user attached, by the rules of the workspace tools. Their code is loaded with the first file.
 * Rejects with an `AttachmentError`.
 */
export const readWorkspaceFile = async (
  reference: string,
  scope: AttachmentScope & { readonly directory: string },
): Promise<Uint8Array> => (await import("@harnesskit/workspace-agent")).readAttachment(reference, scope);

/** A runner whose code is loaded when it is first needed, or asked for. */
export interface LazyRunner extends TurnRunner {
  load(): void;
}

export interface LazyRunnerOptions extends Pick<AiSdkRunnerOptions, "contextWindows" | "notes"> {
  readonly model: ReturnType<typeof createModelChooser>;
  /** Called when a model was asked and has not ended the turn within a moment: it may need tools. */
  readonly onWorking: () => void;
  /** Receives why an attempt failed that is repeated. */
  readonly onRetry: (reason: string) => void;
}

const workingAfterMs = 100;

/** The agent loop, which is large: a client is answered before it is there. */
export const createLazyRunner = ({
  model,
  onWorking,
  onRetry,
  ...context
}: LazyRunnerOptions): LazyRunner => {
  let loading: Promise<TurnRunner> | undefined;
  let running = 0;
  let waiting: NodeJS.Timeout | undefined;
  const loaded = () => {
    loading ??= import("@harnesskit/thread-server/ai-sdk").then(({ createAiSdkRunner }) =>
      createAiSdkRunner({
        ...context,
        async model(ref) {
          const chosen = await model(ref);
          if (running > 0) waiting ??= setTimeout(onWorking, workingAfterMs);
          return chosen;
        },
        onRetry,
        attachments: { read: ({ path, uri }, scope) => readWorkspaceFile(path ?? uri ?? "", scope) },
      }),
    );
    return loading;
  };
  const whileRunning = async (work: (runner: TurnRunner) => Promise<void>): Promise<void> => {
    const runner = await loaded();
    running++;
    try {
      await work(runner);
    } finally {
      running--;
      if (running === 0) {
        clearTimeout(waiting);
        waiting = undefined;
      }
    }
  };
  return {
    load: () => void loaded().catch(() => {}),
    accept: async (request) => (await loaded()).accept?.(request),
    run: (turn) => whileRunning((runner) => runner.run(turn)),
    compact: (turn) => whileRunning(async (runner) => runner.compact?.(turn)),
  };
};
