import type { RequirementResult, ScenarioResult, SuiteReport } from "../run/report-model.ts";
import { escapeMarkup } from "./junit-report.ts";
import { countLine } from "./text-report.ts";

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #d8dee4 }
.pass { color: #116329 } .fail { color: #a40e26; font-weight: 700 } .warn, .unjudged { color: #7d4e00 } .info { color: #0550ae }
pre { overflow: auto; background: #f6f8fa; padding: .6rem; font-size: 12px } details { margin: .3rem 0 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } td, th { border-color: #30363d } pre { background: #161b22 }
.pass { color: #3fb950 } .fail { color: #ff7b72 } .warn, .unjudged { color: #d29922 } .info { color: #58a6ff } }
`;

const requirementRow = ({
  id,
  level,
  outcome,
  text,
  source,
  checks,
  failures,
}: RequirementResult): string => {
  const items = failures.map(
    ({ scenario, step, detail, sent }) =>
      `<li>${escapeMarkup(`${scenario}, ${step}: ${detail}`)}${sent === undefined ? "" : `<br>sent before it: <code>${escapeMarkup(sent)}</code>`}</li>`,
  );
  const details =
    items.length === 0
      ? ""
      : `<details open><summary>${items.length} of ${checks} checks</summary><ul>${items.join("")}</ul></details>`;
  const quote =
    source === undefined ? "" : `<br><q>${escapeMarkup(source.words)}</q> (${escapeMarkup(source.section)})`;
  return `<tr><td>${escapeMarkup(id)}</td><td>${level}</td><td class="${outcome}">${outcome === "unjudged" ? "not judged" : outcome}</td><td>${escapeMarkup(text)}${quote}${details}</td></tr>`;
};

const scenarioPart = ({ name, title, problems, transcript, log }: ScenarioResult): string =>
  `<details><summary>${escapeMarkup(`${name}: ${title}`)}</summary>` +
  problems.map((problem) => `<p class="fail">${escapeMarkup(problem)}</p>`).join("") +
  `<pre>${escapeMarkup(transcript.join("\n"))}</pre>` +
  (log === "" ? "" : `<p>Standard error of the target:</p><pre>${escapeMarkup(log)}</pre>`) +
  "</details>";

/** The report as one HTML page that needs nothing else. */
export const htmlReport = (report: SuiteReport): string => {
  const sections = [...new Set(report.requirements.map(({ section }) => section))];
  const tables = sections.map((section) => {
    const rows = report.requirements.filter((each) => each.section === section).map(requirementRow);
    return `<h2>${escapeMarkup(section)}</h2><table><tr><th>Requirement</th><th>Level</th><th>Outcome</th><th>Statement</th></tr>${rows.join("")}</table>`;
  });
  const verdict = report.conforms
    ? '<span class="pass">conforms</span>'
    : '<span class="fail">does not conform</span>';
  const title = escapeMarkup(`${report.suite} ${report.version} over ${report.transport}`);
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style>
<h1>${title}: ${verdict}</h1>
<p>${escapeMarkup(report.target)} · ${escapeMarkup(countLine(report))} · seed ${report.seed} · ${report.startedAt}</p>
${tables.join("\n")}
<h2>Scenarios</h2>
${report.scenarios.map(scenarioPart).join("\n")}
</html>
`;
};
