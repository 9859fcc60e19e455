import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DoctorReport, DoctorReportSchema } from "@harnesskit/guard/doctor";
import { readStateJson, writeStateJson } from "../state-json.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** Where the last report is kept, for `guard status` and the hub. */
export const doctorReportFile = (): string => join(stateDirectory("guard"), "doctor.json");

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
export const writeDoctorReport = async (report: DoctorReport): Promise<void> => {
  const before = await readDoctorReport();
  const others =
    before?.agents.filter(({ agent }) => !report.agents.some((one) => one.agent === agent)) ?? [];
  await writeStateJson(doctorReportFile(), { ...report, agents: [...report.agents, ...others] });
};
