import { isAgainst, type SuiteReport } from "../run/report-model.ts";

/** Text for XML and HTML; characters that neither may hold are replaced. */
export const escapeMarkup = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** The report as JUnit XML: a case for each requirement; only a MUST or a SAFETY that does not hold or was not judged is a failure. */
export const junitReport = (report: SuiteReport): string => {
  const cases = report.requirements.map((requirement) => {
    const { id, level, section, text, outcome, failures } = requirement;
    const name = escapeMarkup(`${id} (${level}) ${text}`);
    const details = escapeMarkup(
      failures.map(({ scenario, step, detail }) => `${scenario}, ${step}: ${detail}`).join("\n"),
    );
    const message = outcome === "fail" ? "does not hold" : "was not judged";
    const tag = isAgainst(requirement) ? "failure" : "system-out";
    const body =
      outcome === "pass"
        ? ""
        : `<${tag}${tag === "failure" ? ` message="${message}"` : ""}>${details}</${tag}>`;
    return `    <testcase classname="${escapeMarkup(`${report.suite}.${section}`)}" name="${name}">${body}</testcase>`;
  });
  const problems = report.scenarios.flatMap(({ name, problems: all }) =>
    all.map(
      (problem) =>
        `    <testcase classname="${escapeMarkup(report.suite)}.steps" name="${escapeMarkup(name)}"><failure message="a step did not work">${escapeMarkup(problem)}</failure></testcase>`,
    ),
  );
  const all = [...cases, ...problems];
  const failed = report.requirements.filter(isAgainst).length + problems.length;
  const seconds = (report.durationMs / 1000).toFixed(3);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="${escapeMarkup(`${report.suite} over ${report.transport}`)}" tests="${all.length}" failures="${failed}" time="${seconds}" timestamp="${report.startedAt}">`,
    ...all,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
};
