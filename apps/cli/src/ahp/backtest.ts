import { readAuditFile } from "@harnesskit/audit/node";
import { type BacktestChange, type BacktestReport, backtest } from "@harnesskit/policy";
import { sayInvalidLines } from "../audit/audit.ts";
import { ExitCode, sayError, toCliError, unavailableError } from "../cli-error.ts";
import { fromHere } from "../io.ts";
import { emit } from "../terminal/terminal.ts";
import { byWhom, eventLine, explanationJson } from "./event-text.ts";
import { openPolicy } from "./policy-file.ts";

export interface AhpBacktestOptions {
  readonly policy: string;
  readonly json?: true;
}

const maxShown = 50;

const changeLines = ({ seq, time, event, was, now, explanation }: BacktestChange): string[] => {
  const reason = (explanation.decided as { readonly reason?: unknown } | undefined)?.reason;
  const why = typeof reason === "string" ? reason : explanation.why;
  return [
    `${seq}  ${time}  ${eventLine(event)}`,
    `    ${was} → ${now ?? "no say"} ${byWhom(explanation)}: ${why}`,
  ];
};

const reportLines = (report: BacktestReport): string[] => {
  const { decided, withoutEvent, cut, same, changed, changes, transitions } = report;
  const shown = changes.slice(0, maxShown);
  const lines = shown.flatMap(changeLines);
  if (changed > shown.length) lines.push(`and ${changed - shown.length} more`);
  const rest = withoutEvent > 0 ? `, ${withoutEvent} without their content` : "";
  lines.push(
    `${decided} decided ${decided === 1 ? "event" : "events"}: ${same} as before, ${changed} otherwise${rest}`,
  );
  for (const [transition, count] of Object.entries(transitions)) {
    lines.push(`  ${transition}: ${count}`);
  }
  if (cut > 0) lines.push(`${cut} were judged by a part of their content`);
  return lines;
};

const reportJson = ({ changes, ...counts }: BacktestReport) => ({
  ...counts,
  changes: changes.map(({ explanation, ...change }) => ({
    ...{ ...change, ...explanationJson(explanation), decision: explanation.decided },
  })),
});

/** `harness ahp backtest`: what a policy would have decided otherwise of the events in an audit log with content. */
export const ahpBacktest = async (
  file: string,
  { policy: name, json }: AhpBacktestOptions,
): Promise<ExitCode> => {
  const policy = await openPolicy(name);
  let invalid = 0;
  const onInvalidLine = () => {
    invalid++;
  };
  const report = await backtest(
    policy,
    readAuditFile(fromHere(file), { action: "ahp.event", onInvalidLine }),
  ).catch((cause: unknown) => {
    throw unavailableError("audit_unreadable", `${file}: ${toCliError(cause).message}`, {
      cause,
      hint: { to: "Name the log of", run: "harness ahp serve --audit FILE --record-content" },
    });
  });
  emit(json, reportJson(report), () => reportLines(report));
  if (report.decided > 0 && report.withoutEvent === report.decided) {
    sayError("the log holds no events", {
      to: "Record them",
      run: "harness ahp serve --audit FILE --record-content",
    });
  }
  if (invalid === 0) return ExitCode.done;
  sayInvalidLines(file, invalid);
  return ExitCode.failed;
};
