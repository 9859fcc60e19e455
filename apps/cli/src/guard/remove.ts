import { hosts } from "@harnesskit/agent-hooks";
import { planRemoval } from "@harnesskit/guard/settings";
import type { ExitCode } from "../cli-error.ts";
import { emit } from "../terminal/terminal.ts";
import { type ApplyOptions, appliedJson, appliedLines, changeSettings, exitCodeOf } from "./apply-changes.ts";
import { type GuardCommandOptions, guardContext } from "./guard-context.ts";

export interface GuardRemoveOptions extends GuardCommandOptions, ApplyOptions {}

/** `harness guard remove`: takes the hooks out of the settings. Returns the exit code. */
export const guardRemove = async (options: GuardRemoveOptions): Promise<ExitCode> => {
  const context = await guardContext(options);
  const changed = await changeSettings(context.named ?? hosts, context, options, (state) =>
    planRemoval(state, context),
  );
  const applied = changed.filter(({ change, problem }) => context.named || change || problem !== undefined);
  emit(options.json, appliedJson(applied), () =>
    applied.length === 0
      ? "There are no hooks to remove."
      : appliedLines(applied, "has no hooks of this program"),
  );
  return exitCodeOf(applied);
};
