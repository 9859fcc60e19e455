import { Option } from "commander";
import { addGuardProxies } from "./guard-proxies.ts";
import type { Command } from "./help-command.ts";
import { agentIds, type CommandContext, cwdOption, loads, severalTimes, wholeNumber } from "./options.ts";

const agentOption = (): Option =>
  new Option("--agent <id>", `only this agent: ${agentIds.join(", ")}; can be given several times`).argParser(
    severalTimes,
  );

const scopeOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--user", "the settings of this user, for all projects (default)").conflicts("project"),
    )
    .option("--project", "the settings of the project in --cwd, which its other users get too")
    .addOption(cwdOption());

/** `harness guard` with `init`, `status`, `remove`, `doctor`, `hook`, and the proxies. */
export const addGuard = (program: Command, context: CommandContext): void => {
  const guard = program
    .command("guard")
    .description("supervise the coding agents of other vendors: one policy, one inbox, one timeline")
    .example("harness guard init");

  scopeOptions(
    guard
      .command("init")
      .description("find the coding agents, show what would be written into their settings, and write it"),
  )
    .addOption(agentOption())
    .addOption(
      new Option("--wait <seconds>", "how long an agent waits for a decision, and so for your answer")
        .argParser(wholeNumber("--wait"))
        .default(3600),
    )
    .option(
      "--command <words>",
      'what the hooks start, in place of this program, such as "harness guard hook"; it must answer as that does',
    )
    .option("--managed", "only show what an administrator would put where users cannot change it")
    .option("--dry-run", "only show the changes")
    .option("--yes", "write without asking")
    .option("--json", "one JSON document; without --yes it writes nothing")
    .example(`harness guard init
  harness guard init --agent codex --wait 600
  harness guard init --project --dry-run
  harness guard init --command "harness guard hook"

Every file is backed up, and changed in one step or not at all. What is in it stays as it is;
harness guard remove restores it exactly. Managed settings are never touched.
For --project the hooks start the program harness from the PATH of each user. What --command
names is started once, with --version, before anything is written.

Exit codes: 0 written or nothing to do, 1 a file could not be changed, 2 an option cannot be
used, or there is no terminal to ask at and no --yes, 3 you said no.`)
    .action(loads(context, async () => (await import("../guard/init.ts")).guardInit));

  scopeOptions(
    guard
      .command("status")
      .description("show the coding agents of this machine and whether their hooks are in place"),
  )
    .option("--json", "one JSON document")
    .example(`harness guard status --json

It asks Codex which of the hooks it trusts, and starts what guard init has written into the
settings once, with --version; it starts nothing else.
Exit codes: 0 every agent that was found is guarded, 1 one is not.`)
    .action(loads(context, async () => (await import("../guard/status.ts")).guardStatus));

  scopeOptions(
    guard.command("remove").description("remove the hooks from the settings, after showing the changes"),
  )
    .addOption(agentOption())
    .option("--dry-run", "only show the changes")
    .option("--yes", "write without asking")
    .option("--json", "one JSON document; without --yes it writes nothing")
    .example("harness guard remove --agent codex")
    .action(loads(context, async () => (await import("../guard/remove.ts")).guardRemove));

  guard
    .command("doctor")
    .description(
      "run the agents against a scripted model, break their hooks on purpose, and show what they did",
    )
    .addOption(agentOption())
    .option("--json", "one JSON document")
    .example(`harness guard doctor
  harness guard doctor --agent codex --json

Each agent that can be run offline gets a home of its own in a temporary directory, and a
model on this machine that asks it to create one file there. Nothing leaves the machine, no
key is needed, and your settings are not read. It takes about a minute.
Exit codes: 0 the hooks that answered were obeyed, 1 an agent did what its hook refused.`)
    .action(loads(context, async () => (await import("../guard/doctor.ts")).guardDoctor));

  guard
    .command("hook")
    .description("what the agents start for each tool call: reads a hook's input, writes the hub's answer")
    .argument("<agent>", agentIds.join(", "))
    .option("--socket <path>", "the guard's socket (default: that of this user's hub)")
    .option("--timeout-ms <n>", "how long the agent waits (default: 30000)")
    .option("--event <name>", "the event, for agents whose input does not name it")
    .example(`echo '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}' |
    harness guard hook codex

It ends with 0 and one JSON object, or with 2 and a reason on standard error, which every
agent takes as a refusal. It answers two seconds before the agent stops waiting.`)
    .action(() => {
      // bin.ts has answered it before this file was loaded.
    });

  addGuardProxies(guard, context);
};
