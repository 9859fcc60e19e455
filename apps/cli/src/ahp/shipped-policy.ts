import type { CommandJudge, JudgeFunction } from "@harnesskit/command-judge";
import { realPathOf } from "@harnesskit/node-kit";
import type { Policy } from "@harnesskit/policy";
import { loadBuiltPolicy } from "@harnesskit/policy/node";
import { io } from "../io.ts";

/** The shipped policy, without the judge of commands and paths, which only actions need. */
export interface ShippedPolicy {
  readonly policy: Policy;
  /** Loads the judge. An action that is decided before it has settled is refused. */
  beforeAction(): Promise<void>;
}

/** The functions of the judge that the shipped policy calls. */
const signatures = ["command(map): map", "readsCommands(map): string", "files(map): map"];

/** Opens the shipped policy as it was built; undefined where its file was changed since. */
export const openShippedPolicy = async (workspace: string): Promise<ShippedPolicy | undefined> => {
  let judge: CommandJudge | undefined;
  const loaded = (): CommandJudge => {
    if (!judge) throw new TypeError("the judge of commands is not loaded");
    return judge;
  };
  const functions = signatures.map(
    (signature): JudgeFunction => ({
      signature,
      call: (args, context) =>
        loaded()
          .functions.find((one) => one.signature === signature)
          ?.call(args, context),
    }),
  );
  const policy = await loadBuiltPolicy({
    workspace,
    functions,
    changesFiles: (action, files) => loaded().changesFiles(action, files),
  });
  return (
    policy && {
      policy,
      async beforeAction() {
        if (judge) return;
        const { commandJudge } = await import("@harnesskit/command-judge");
        judge ??= commandJudge({ home: io().home(), realPath: realPathOf });
      },
    }
  );
};
