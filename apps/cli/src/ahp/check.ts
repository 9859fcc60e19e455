import { checkPolicy, type Explanation } from "@harnesskit/policy";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { ExitCode, usageError } from "../cli-error.ts";
import { emit } from "../terminal/terminal.ts";
import { explanationJson, explanationLines } from "./event-text.ts";
import { openPolicy, sayPolicyWarnings } from "./policy-file.ts";
import { type DraftEvent, readEvents, readHookEvent } from "./read-events.ts";

export interface AhpCheckOptions {
  readonly policy: string;
  /** The files hold what this coding agent writes to its hooks. @default they hold events of AHP */
  readonly agent?: string;
  readonly json?: true;
}

const toEvent = (draft: DraftEvent): AhpEvent => ({
  session_id: "session",
  agent_id: "agent",
  timestamp: new Date().toISOString(),
  depth: 0,
  payload: {},
  ...draft,
});

/** The decisions after which an agent goes on. */
const goOn: ReadonlySet<string> = new Set(["allow", "modify", "approve", "retry", "queue"]);

const toolSuffix = ({ payload }: AhpEvent): string => {
  const tool = typeof payload === "object" && payload !== null && "tool_name" in payload && payload.tool_name;
  return typeof tool === "string" ? ` ${tool}` : "";
};

const exitCodeOf = ({ decision }: Explanation): ExitCode =>
  decision && goOn.has(decision.decision) ? ExitCode.done : ExitCode.refused;

/** `harness ahp check`: what a policy decides of events, each as if it were the first, by which rule, and why. */
export const ahpCheck = async (
  files: readonly string[],
  { policy: name, agent, json }: AhpCheckOptions,
): Promise<ExitCode> => {
  if (files.filter((file) => file === "-").length > 1) throw usageError("Standard input can be read once");
  const policy = await openPolicy(name);
  sayPolicyWarnings(policy);
  const events: AhpEvent[] = [];
  for (const file of files) {
    const found = agent === undefined ? await readEvents(file) : [await readHookEvent(file, agent)];
    events.push(...found.map(toEvent));
  }
  const results = events.map((event) => ({ event, explanation: checkPolicy(policy, event) }));
  const shown = results.map(({ event: { event_type }, explanation }) => ({
    ...{ event_type, ...explanationJson(explanation) },
  }));
  const { name: policyName, file, warnings } = policy;
  emit(json, { policy: policyName, file, warnings, results: shown }, () =>
    results.flatMap(({ event, explanation }) =>
      explanationLines(`${event.event_type}${toolSuffix(event)}`, explanation),
    ),
  );
  return results
    .map(({ explanation }) => exitCodeOf(explanation))
    .reduce((a, b) => (a > b ? a : b), ExitCode.done);
};
