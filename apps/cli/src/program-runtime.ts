import { type Command, Option } from "commander";
import type { ExitCode } from "./exit-code.ts";
import { jsonOption, severalTimes, wholeNumber } from "./program-options.ts";

/** The commands of the runtime: `core` and `audit`. */
export const addRuntimeCommands = (
  program: Command,
  { version, onExit }: { readonly version: string; readonly onExit: (code: ExitCode) => void },
): void => {
  program
    .command("core")
    .description("run agents, each in its own process, and use their tools")
    .addOption(
      new Option("--agent <dir>", "a directory with an opensentience.agent.json; can be given several times")
        .argParser(severalTimes)
        .makeOptionMandatory(),
    )
    .addOption(new Option("--list", "print the tools that the agents registered, and end"))
    .addOption(new Option("--call <tool>", "call this tool, AGENT/NAME, and end"))
    .addOption(new Option("--input <json>", "what the tool is called with (default: {})"))
    .addOption(
      new Option("--timeout <seconds>", "how long the call may take")
        .argParser(wholeNumber("--timeout"))
        .default(120, "120"),
    )
    .addOption(new Option("--audit <file>", "record there what happens; not what is said"))
    .addOption(jsonOption("JSON in place of text; one line each where something goes on"))
    .addHelpText(
      "after",
      `\nExample:
  harness core --agent ./my-agent --list
  harness core --agent ./my-agent --call com.example.hello/greet --input '{"name":"Ada"}'

Without --list and --call it stays, prints the directory of its socket and every change of
an agent's health, and starts again what ends; Ctrl-C ends it with its agents.`,
    )
    .action(async (options) => {
      const { core } = await import("./commands/core.ts");
      onExit(await core(options, { version }));
    });

  const audit = program
    .command("audit")
    .description("read and verify audit logs")
    .addHelpText("after", "\nExample:\n  harness audit verify audit.jsonl");

  audit
    .command("verify")
    .description("whether a log is as it was written, rotated files included")
    .argument("<file>", "the log")
    .addOption(new Option("--expect <head>", "a head that was kept elsewhere: it has to be in the log"))
    .addOption(new Option("--open", "the log is being written: its end need not be sealed"))
    .addOption(jsonOption("one JSON document"))
    .addHelpText("after", "\nExample:\n  harness audit verify audit.jsonl --json")
    .action(async (file: string, options) => {
      const { verifyAudit } = await import("./commands/audit-verify.ts");
      onExit(await verifyAudit(file, options));
    });

  audit
    .command("show")
    .description("the entries of a log, the oldest first")
    .argument("<file>", "the log")
    .addOption(new Option("--action <name>", "only this action; tool.* for all that begin so"))
    .addOption(new Option("--agent-id <id>", "only of this agent"))
    .addOption(new Option("--call <id>", "only of this call"))
    .addOption(new Option("--correlation <id>", "only of this story: a thread's id"))
    .addOption(
      new Option("--after <seq>", "only entries after this number").argParser(wholeNumber("--after")),
    )
    .addOption(new Option("--limit <n>", "at most so many").argParser(wholeNumber("--limit")))
    .addOption(jsonOption("one JSON line per entry"))
    .addHelpText("after", "\nExample:\n  harness audit show audit.jsonl --action 'tool.*'")
    .action(async (file: string, options) => {
      const { showAudit } = await import("./commands/audit-show.ts");
      onExit(await showAudit(file, options));
    });
};
