import { displayText } from "@harnesskit/wire";
import { isAgainst, type Outcome, type RequirementResult, type SuiteReport } from "../run/report-model.ts";
import { shownSent } from "../run/shown-step.ts";

const words: Readonly<Record<Outcome, string>> = {
  pass: "pass",
  fail: "FAIL",
  warn: "warn",
  info: "info",
  unjudged: "not judged",
};

/** Text of a target, as one line that a terminal shows as it is. */
export const oneLine = (text: string, maxLength = 300): string => displayText(text, { maxLength });

/** Who says it: the words of a specification, or this project. */
const basisOf = ({ level, spec, source }: RequirementResult): readonly string[] => {
  if (level === "SAFETY")
    return ["the specification is silent: this project requires it, because users rely on it"];
  if (source === undefined) return [];
  const [name = spec] = spec.split(" (");
  const place = source.section.startsWith(name) ? source.section : `${name}, ${source.section}`;
  return [`${place}: "${source.words}"`];
};

const describe = (requirement: RequirementResult): string => {
  const { id, level, outcome, text, failures } = requirement;
  const shown = failures
    .slice(0, 3)
    .flatMap(({ scenario, step, detail, sent }) => [
      `${scenario}, ${step}: ${oneLine(detail, 600)}`,
      ...(outcome === "fail" && sent !== undefined
        ? [`  sent before it: ${oneLine(shownSent(sent, 280))}`]
        : []),
    ]);
  const more = failures.length > 3 ? [`and ${failures.length - 3} more`] : [];
  const lines = [...(outcome === "fail" ? basisOf(requirement) : []), ...shown, ...more];
  return [`  ${words[outcome]}  ${id} (${level}) ${text}`, ...lines.map((line) => `        ${line}`)].join(
    "\n",
  );
};

const idsFor = (what: string, all: readonly { readonly id: string }[]): string[] => {
  if (all.length === 0) return [];
  const rest = all.length > 8 ? ` and ${all.length - 8} more` : "";
  return [
    `${what}: ${all
      .slice(0, 8)
      .map(({ id }) => id)
      .join(", ")}${rest}`,
  ];
};

/** Why a target does not conform, and how to repeat a part of the run. */
const reasonsOf = ({ requirements, scenarios, seed }: SuiteReport): readonly string[] => {
  const against = requirements.filter(isAgainst);
  const broken = scenarios.filter(({ problems }) => problems.length > 0).map(({ name }) => ({ id: name }));
  const first = against.find(({ outcome }) => outcome === "fail") ?? against[0];
  return [
    ...idsFor(
      "  do not hold",
      against.filter(({ outcome }) => outcome === "fail"),
    ),
    ...idsFor(
      "  not judged, and must be",
      against.filter(({ outcome }) => outcome === "unjudged"),
    ),
    ...idsFor("  with a step that did not work", broken),
    ...(requirements.length === 0 ? ["  nothing was judged: no check of these options was run"] : []),
    ...(first === undefined
      ? []
      : [`  to run one alone, add to the same command: --only ${first.id} --seed ${seed}`]),
  ];
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
    ...(report.conforms ? [] : reasonsOf(report)),
    "",
  ].join("\n");
};
