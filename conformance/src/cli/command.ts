import { writeFileSync } from "node:fs";
import { ConformanceError, messageOf } from "../errors.ts";
import { ownFault } from "../own-fault.ts";
import { type ExpectedFailure, judgeExpected, readExpected } from "../report/expected-failures.ts";
import { htmlReport } from "../report/html-report.ts";
import { junitReport } from "../report/junit-report.ts";
import { oneLine, textReport } from "../report/text-report.ts";
import type { ScenarioResult, SuiteReport } from "../run/report-model.ts";
import { runSuite } from "../run/run-suite.ts";
import { citedIds } from "../scenario/cited-ids.ts";
import { loadSuite, type Suite, suiteNames } from "../scenario/load-suite.ts";
import { readArguments, runOptionsOf, targetOf, type Values } from "./arguments.ts";

/** Where a command writes, and how it is interrupted. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Shows the progress, as a terminal does each line in the place of the one before. Default: a line of `stderr` each. */
  readonly progress?: ((line: string, isLast: boolean) => void) | undefined;
  readonly signal?: AbortSignal;
  /** What the help calls the command. Default: `harnesskit-conformance`. */
  readonly command?: string;
}

/** 0 conforms, 1 does not, 2 wrong usage, 4 the target is unavailable, 70 a fault of the suite itself, 130 interrupted. */
export type ConformanceExitCode = 0 | 1 | 2 | 4 | 70 | 130;

const help = (command: string): string => `Usage: ${command} SUITE TARGET [options]

Judges an implementation of a protocol from outside, statement by statement.

Suites: ${suiteNames().join(", ")}

Target, one of:
  --stdio CMD           a program that speaks on standard input and output
  --start CMD           a program that is started for each scenario; --on says where it is:
    --on TRANSPORT      stdio, unix, tcp, http or ws. A server listens at $CONFORMANCE_ENDPOINT,
                        a client connects to it
  --unix PATH, --tcp HOST:PORT          a server that runs already
  --http URL, --ws URL                  the same
  --module FILE         a module of JavaScript, with --on

Options:
  --token-file FILE, --api-key-file FILE   the credential of --http and --ws
  --no-credential       a server of --start or --module checks no credential: that is not judged
  --only ID             only checks of these requirements; can be given several times
  --level LEVEL         core: the twelve most important statements; must: without SAFETY (default: safety)
  --list                show the requirements and whether a check cites them; without a suite: the suites
  --set NAME=VALUE      replace a value of the scenarios
  --seed N              repeat a run with the same random values
  --within MS           how long to wait for each answer (default: 2000); to start, a target has five times as long,
                        at most 10 seconds, and never less than MS
  --expected FILE       what is known not to hold or work: a run that fails in nothing else ends with 0
  --json                the report as JSON on standard output
  --junit FILE, --html FILE                also write the report to a file
  --quiet               no progress

Example:
  ${command} ahp-server --stdio 'python3 harness.py'

A MUST that does not hold fails, and so does a SAFETY: what no text says and a user relies on. A SHOULD or a FACT
warns, a MAY or a CHOICE informs. What a step before it prevented is not judged.

Exit codes: 0 conforms, 1 does not conform, 2 wrong usage, 4 the target is unavailable, 70 a fault of this
program itself, 130 interrupted.
`;

/** One line for each suite: its name, the version of its protocol, and its transports. */
const suitesTable = (): string => {
  const width = Math.max(...suiteNames().map(({ length }) => length));
  return suiteNames()
    .map((name) => loadSuite(name))
    .map(
      ({ name, version, role }) =>
        `${name.padEnd(width)} ${version.padEnd(8)} ${Object.keys(role.transports).join(", ")}\n`,
    )
    .join("");
};

const requirementList = (suite: Suite): string => {
  const cited = citedIds(suite);
  const lines = [...suite.requirements.values()]
    .filter(({ text }) => !suite.otherSubjects.some((subject) => text.startsWith(`${subject}:`)))
    .map(
      ({ id, level, text }) =>
        `${cited.has(id) ? "check" : "     "}  ${id.padEnd(8)} ${level.padEnd(6)} ${text}`,
    );
  return `${lines.join("\n")}\n`;
};

const showProgress = (values: Values, io: CommandIo) => {
  let unmet = 0;
  let met = 0;
  return (result: ScenarioResult, at: { done: number; total: number }) => {
    unmet += result.checks.filter(({ verdict }) => verdict === "unmet").length;
    met += result.checks.filter(({ verdict }) => verdict === "met").length;
    if (values.quiet === true) return;
    const line = `${at.done}/${at.total} scenarios, ${met} checks hold, ${unmet} do not (${result.name})`;
    if (io.progress) io.progress(line, at.done === at.total);
    else io.stderr(`${line}\n`);
  };
};

const writeFile = (file: string, text: string): void => {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new ConformanceError("usage", `cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
};

const writeReports = (report: SuiteReport, values: Values, io: CommandIo): void => {
  if (values.junit !== undefined) writeFile(values.junit, junitReport(report));
  if (values.html !== undefined) writeFile(values.html, htmlReport(report));
  io.stdout(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : textReport(report));
};

/** What a run with `--expected` says beside its report, and whether all that failed was expected. */
const compareExpected = (
  report: SuiteReport,
  entries: readonly ExpectedFailure[],
  io: CommandIo,
): boolean => {
  const { conforms, expected, holds } = judgeExpected(report, entries);
  for (const id of expected) io.stderr(`expected: ${id} does not hold\n`);
  for (const id of holds) io.stderr(`note: ${id} is expected to fail, and holds in this run\n`);
  if (conforms && !report.conforms) io.stderr("nothing fails that is not expected\n");
  return conforms;
};

const judge = async (suite: Suite, values: Values, io: CommandIo): Promise<ConformanceExitCode> => {
  const entries = values.expected === undefined ? undefined : readExpected(values.expected, suite);
  // A file that cannot be written is found before the run.
  for (const file of [values.junit, values.html]) if (file !== undefined) writeFile(file, "");
  const report = await runSuite({
    suite,
    target: await targetOf(values),
    ...runOptionsOf(values),
    ...(io.signal === undefined ? {} : { signal: io.signal }),
    onScenario: showProgress(values, io),
  });
  writeReports(report, values, io);
  const conforms = entries === undefined ? report.conforms : compareExpected(report, entries, io);
  return conforms ? 0 : 1;
};

const exitCodes = { usage: 2, invalid_scenario: 2, unavailable: 4, incomplete: 4, interrupted: 130 } as const;

/**
 * The command `harnesskit-conformance`.
 *
 * @param args what follows the program's name
 */
export const runConformance = async (
  args: readonly string[],
  io: CommandIo,
): Promise<ConformanceExitCode> => {
  try {
    const { suite: name, values } = readArguments(args);
    if (values.help === true) {
      io.stdout(help(io.command ?? "harnesskit-conformance"));
      return 0;
    }
    if (name === undefined && values.list === true) {
      io.stdout(suitesTable());
      return 0;
    }
    if (name === undefined) throw new ConformanceError("usage", `name a suite: ${suiteNames().join(", ")}`);
    const suite = loadSuite(name);
    if (values.list !== true) return await judge(suite, values, io);
    io.stdout(requirementList(suite));
    return 0;
  } catch (error) {
    if (!ConformanceError.isInstance(error)) {
      io.stderr(ownFault(error));
      return 70;
    }
    const lines = messageOf(error).split("\n");
    io.stderr(`conformance: ${lines.map((line) => oneLine(line, 1000)).join("\n  ")}\n`);
    const code = error.code as keyof typeof exitCodes;
    if (code === "usage") io.stderr("  --help shows how.\n");
    const told = { code, message: error.message, exitCode: exitCodes[code] };
    if (args.includes("--json")) io.stdout(`${JSON.stringify({ error: told })}\n`);
    return told.exitCode;
  }
};
