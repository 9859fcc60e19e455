import { displayText } from "@harnesskit/wire";
import type { Outcome, RequirementResult, SuiteReport } from "../run/report-model.ts";

const words: Readonly<Record<Outcome, string>> = {
  pass: "pass",
  fail: "FAIL",
  warn: "warn",
  info: "info",
  unjudged: "not judged",
};

/** Text of a target, as one line that a terminal shows as it is. */
export const oneLine = (text: string, maxLength = 300): string => displayText(text, { maxLength });

const describe = ({ id, level, outcome, text, source, failures }: RequirementResult): string => {
  const shown = failures
    .slice(0, 3)
    .map(({ scenario, step, detail }) => `        ${scenario}, ${step}: ${oneLine(detail)}`);
  const more = failures.length > 3 ? [`        and ${failures.length - 3} more`] : [];
  const quote =
    outcome === "fail" && source !== undefined ? [`        ${source.section}: "${source.words}"`] : [];
  return [`  ${words[outcome]}  ${id} (${level}) ${text}`, ...quote, ...shown, ...more].join("\n");
};

const sectionRows = (requirements: readonly RequirementResult[]): readonly string[] => {
  const sections = [...new Set(requirements.map(({ section }) => section))];
  const width = Math.max(8, ...sections.map(({ length }) => length));
  const row = (name: string, ...cells: readonly (number | string)[]) =>
    `  ${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(Math.max(6, String(cell).length + 2))).join("")}`;
  return [
    row("section", "pass", "FAIL", "warn", "info", "not judged"),
    ...sections.map((section) => {
      const of = (outcome: Outcome) =>
        requirements.filter((each) => each.section === section && each.outcome === outcome).length;
      return row(section, of("pass"), of("fail"), of("warn"), of("info"), of("unjudged"));
    }),
  ];
};

/** The counts of a run in one line. */
export const countLine = ({ counts, durationMs }: SuiteReport): string =>
  `${counts.pass} passed, ${counts.fail} failed, ${counts.warn} warnings, ${counts.info} informed, ${counts.unjudged} not judged, in ${(durationMs / 1000).toFixed(1)} s`;

/** The report for a terminal: what does not hold, then a table by section, then the verdict. */
export const textReport = (report: SuiteReport): string => {
  const unmet = report.requirements.filter(({ outcome }) => outcome !== "pass");
  const problems = report.scenarios.flatMap(({ name, problems: all }) =>
    all.map((problem) => `  FAIL  ${name}: ${oneLine(problem)}`),
  );
  return [
    ...unmet.map(describe),
    ...problems,
    ...(unmet.length + problems.length > 0 ? [""] : []),
    ...sectionRows(report.requirements),
    "",
    countLine(report),
    `${report.suite} ${report.version} over ${report.transport}, seed ${report.seed}: ${report.conforms ? "conforms" : "does not conform"}`,
    "",
  ].join("\n");
};
