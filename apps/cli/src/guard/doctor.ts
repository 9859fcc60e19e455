import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findHost } from "@harnesskit/agent-hooks";
import {
  type DoctorAgent,
  type DoctorReport,
  DoctorReportSchema,
  type DoctorRow,
  proveAgents,
} from "@harnesskit/guard/doctor";
import { findAgents } from "@harnesskit/guard/settings";
import { ExitCode } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { readStateJson, writeStateJson } from "../state-files.ts";
import { tableLines } from "../terminal/table-lines.ts";
import { createTerminal, emit, note, type Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { withCleanup } from "../with-cleanup.ts";
import { stateDirectory } from "../workspace-directory.ts";
import {
  type GuardCommandOptions,
  guardContext,
  hookProgramPath,
  isFound,
  noAgentText,
} from "./guard-context.ts";

/** What a hook does in a run, as people read it. */
const probeNames: Readonly<Record<DoctorRow["probe"], string>> = {
  allow: "hook allows",
  deny: "hook refuses",
  no_hub: "hub not running",
  crash: "hook crashes (exit 1)",
  silent_exit: "hook exits 2, silent",
  garbage: "hook answers garbage",
  timeout: "hook times out",
  missing: "hook is missing",
  untrusted: "hook is not trusted",
};

const words = { runs: "tool RAN", blocked: "blocked", unknown: "unknown" } as const;

const rowCells = ({ probe, documented, observed, note }: DoctorRow): string[] => [
  probeNames[probe],
  observed === undefined ? `not run${note === undefined ? "" : ` (${note})`}` : words[observed],
  documented === "unknown" ? "says nothing" : documented === "runs" ? "tool runs" : documented,
  observed !== undefined && documented !== "unknown" && observed !== documented ? "differs" : "",
];

const header = ["", "this run", "vendor's docs, with our settings", ""];

const agentLines = (agent: DoctorAgent, style: Style, room: number | undefined): string[] => {
  const { name, version, isProved, rows, protection } = agent;
  const gaps = findHost(agent.agent).gaps.map((gap) => `  not seen by its hooks: ${gap}`);
  const title = style.bold(`${name}${version === undefined ? "" : ` ${oneLine(version, 60)}`}`);
  if (!isProved)
    return [
      title,
      `  ${protection}`,
      ...gaps,
      ...new Set(rows.flatMap(({ note }) => (note ? [`  ${note}`] : []))),
      "",
    ];
  const columns = header.map((label) => ({ label, isNumeric: false }));
  const table = tableLines({ columns, rows: rows.map(rowCells) }, style, room && room - 2);
  return [title, ...table.map((line) => `  ${line}`), `  ${protection}`, ...gaps, ""];
};

const disobeys = ({ isProved, rows }: DoctorAgent): boolean =>
  isProved &&
  rows.some(({ probe, observed }) => (probe === "deny" || probe === "no_hub") && observed === "runs");

/** `harness guard doctor`. Returns the exit code. */
export const guardDoctor = (options: Omit<GuardCommandOptions, "cwd" | "project">): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const { places, named } = await guardContext({ ...options, cwd: io().cwd() });
    const found = await findAgents(places);
    const agents = named ? found.filter(({ host }) => named.includes(host)) : found.filter(isFound);
    if (agents.length === 0) {
      emit(options.json, { agents }, () => noAgentText);
      return ExitCode.done;
    }
    const stop = new AbortController();
    defer(onStopSignals(() => stop.abort()));
    const program = await hookProgramPath();
    const report = await proveAgents({
      agents,
      nowMs: io().clock.now(),
      hookProgram: [process.execPath, program],
      signal: stop.signal,
      onRow: ({ host }, row) => {
        if (!options.json)
          note(
            `${host.name}: ${probeNames[row.probe]}: ${row.observed === undefined ? "not run" : words[row.observed]}`,
          );
      },
    });
    if (stop.signal.aborted) return ExitCode.interrupted;
    await writeDoctorReport(report);
    const { columns } = createTerminal();
    emit(options.json, report, (_, style) => [
      ...report.agents.flatMap((agent) => agentLines(agent, style, columns)),
      `Kept in ${doctorReportFile()}, for harness guard status and the hub.`,
    ]);
    return report.agents.some(disobeys) ? ExitCode.failed : ExitCode.done;
  });

/** Where the last report is kept, for `guard status` and the hub. */
const doctorReportFile = (): string => join(stateDirectory("guard"), "doctor.json");

/** The last report; undefined if it is absent or cannot be read. */
export const readDoctorReport = async (): Promise<DoctorReport | undefined> =>
  DoctorReportSchema.safeParse(await readStateJson(doctorReportFile())).data;

/** What the last report says of an agent, in a line, for the hub; undefined where it says nothing. */
export const protectionLine = (agent: string): string | undefined => {
  try {
    const { agents } = DoctorReportSchema.parse(JSON.parse(readFileSync(doctorReportFile(), "utf8")));
    return agents.find((one) => one.agent === agent)?.protection;
  } catch {
    return undefined;
  }
};

/** Keeps a report; the agents that it does not name keep theirs. */
const writeDoctorReport = async (report: DoctorReport): Promise<void> => {
  const before = await readDoctorReport();
  const others =
    before?.agents.filter(({ agent }) => !report.agents.some((one) => one.agent === agent)) ?? [];
  await writeStateJson(doctorReportFile(), { ...report, agents: [...report.agents, ...others] });
};
