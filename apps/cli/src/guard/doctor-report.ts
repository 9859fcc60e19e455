import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DoctorReport, DoctorReportSchema } from "@harnesskit/guard/doctor";
import { makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { stateDirectory } from "../workspace-directory.ts";

const maxBytes = 1024 * 1024;

/** Where the last report is kept, for `guard status` and the hub. */
export const doctorReportFile = (): string => join(stateDirectory("guard"), "doctor.json");

/** The last report; undefined if it is absent or cannot be read. */
export const readDoctorReport = async (): Promise<DoctorReport | undefined> => {
  try {
    const bytes = await readOwnFile(doctorReportFile(), { maxBytes });
    return DoctorReportSchema.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined;
  }
};

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
export const writeDoctorReport = async (report: DoctorReport): Promise<void> => {
  const before = await readDoctorReport();
  const others =
    before?.agents.filter(({ agent }) => !report.agents.some((one) => one.agent === agent)) ?? [];
  await makeDirectory(stateDirectory("guard"));
  const merged = { ...report, agents: [...report.agents, ...others] };
  await writeFileAtomic(doctorReportFile(), `${JSON.stringify(merged, null, 2)}\n`);
};
