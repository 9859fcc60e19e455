import { displayText } from "@harnesskit/wire";
import { type Command, Option } from "commander";
import { usageError } from "./cli-error.ts";

export const cwdOption = () =>
  new Option("--cwd <dir>", "the directory to work in").default(process.cwd(), "here");

export const jsonOption = (what: string) => new Option("--json", what);

/** Collects what an option is given, in order. */
export const severalTimes = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Reads a whole number from 0. */
export const wholeNumber =
  (option: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw usageError(`${option}: ${displayText(text, { maxLength: 100 })} is no whole number from 0`);
  };

/** Reads a number of seconds, with up to three places. */
const seconds =
  (option: string) =>
  (text: string): number => {
    if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
    throw usageError(`${option}: ${displayText(text, { maxLength: 100 })} is no number of seconds`);
  };

/** Reads a port; 0 stands for one that is free. */
export const portNumber =
  (option: string) =>
  (text: string): number => {
    const port = wholeNumber(option)(text);
    if (port <= 65_535) return port;
    throw usageError(`${option}: a port is a number from 0 to 65535`);
  };

/** Collects the ports that an option is given. */
export const severalPorts =
  (option: string) =>
  (text: string, before: readonly number[] = []): number[] => [...before, portNumber(option)(text)];

/** Adds the options that say who judges what the agent wants to do. */
export const addPolicyOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--policy <file>",
        "the policy that judges prompts and tool calls (default: the one that ships)",
      ),
    )
    .addOption(new Option("--no-policy", "no policy: only you are asked, before what writes or executes"))
    .addOption(
      new Option(
        "--ahp <endpoint>",
        "the harness that judges instead: stdio:COMMAND ARGS, unix:PATH, http(s)://… or ws(s)://…",
      ),
    )
    .addOption(
      new Option("--ahp-token-file <file>", "the token of --ahp (default: $HARNESS_AHP_TOKEN, if it is set)"),
    )
    .addOption(
      new Option(
        "--ahp-api-key-file <file>",
        "the API key of --ahp, in place of a token (default: $HARNESS_AHP_API_KEY, if it is set)",
      ),
    )
    .addOption(
      new Option(
        "--ahp-credentials-in-query",
        "show the credential of --ahp in the URL of its WebSocket, for harnesses that read no header",
      ),
    )
    .addOption(
      new Option(
        "--policy-timeout <seconds>",
        "how long a decision may take; then it is no (default: 10)",
      ).argParser(seconds("--policy-timeout")),
    );
