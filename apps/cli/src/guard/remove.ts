import { hosts } from "@harnesskit/agent-hooks";
import { planRemoval, readHookState } from "@harnesskit/guard/settings";
import type { ExitCode } from "../cli-error.ts";
import { emit } from "../terminal/terminal.ts";
import {
  type ApplyOptions,
  appliedJson,
  appliedLines,
  applyChanges,
  exitCodeOf,
  type Planned,
} from "./apply-changes.ts";
import { type GuardCommandOptions, guardContext, settingsProblem } from "./guard-context.ts";

export interface GuardRemoveOptions extends GuardCommandOptions, ApplyOptions {}

/** `harness guard remove`: takes the hooks out of the settings. Returns the exit code. */
export const guardRemove = async (options: GuardRemoveOptions): Promise<ExitCode> => {
  const context = await guardContext(options);
  const planned: Planned[] = [];
  for (const host of context.named ?? hosts) {
    const about = { id: host.id, name: host.name };
    try {
      const state = await readHookState(host, context.scope, context);
      const change = await planRemoval(state, context);
      if (change || context.named) planned.push({ ...about, path: state.file.path, change });
    } catch (error) {
      planned.push({ ...about, path: undefined, problem: settingsProblem(error) });
    }
  }
  const applied = await applyChanges(planned, context, options);
  emit(options.json, appliedJson(applied), () =>
    applied.length === 0
      ? "There are no hooks to remove."
      : appliedLines(applied, "has no hooks of this program"),
  );
  return exitCodeOf(applied);
};
