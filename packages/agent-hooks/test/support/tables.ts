import {
  answerHook,
  deadlineMs,
  type HookAnswer,
  type Host,
  hookFailures,
  hosts,
  skipHostPromptField,
} from "../../src/index.ts";
import { examplesOf, readExample } from "./examples.ts";

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

const code = (text: string): string => `\`${text}\``;
const names = hosts.map(({ name }) => name);

const effectOf = ({ effect }: HookAnswer): string =>
  effect === "none" ? "goes on" : effect === "not_applied" ? "goes on, not refused" : effect;
const shown = (answer: HookAnswer): string =>
  `${effectOf(answer)}: ${answer.stdout === "" ? "empty output" : code(answer.stdout)}`;

const decisions = [
  ["allow", { decision: "allow" }, {}],
  ["allow, approved by a human", { decision: "allow", metadata: { [skipHostPromptField]: true } }, {}],
  ["block", { decision: "block", reason: "R" }, {}],
  ["modify", { decision: "modify", modified_payload: { arguments: { command: "new" } } }, {}],
  ["defer", { decision: "defer", retry_after_ms: 5000 }, {}],
  ["escalate", { decision: "escalate", reason: "R" }, {}],
  ["escalate, a human is near", { decision: "escalate", reason: "R" }, { escalate: "ask" }],
] as const;

/** A call of a shell command with no other argument. */
const commandCall = (host: Host, event: string) => {
  const example = examplesOf(host).find((one) => {
    const call = readExample(host, one);
    return call.hookEvent === event && call.action?.kind === "run";
  });
  if (!example) throw new Error(`no example of a command in ${event} of ${host.id}`);
  const text = JSON.stringify(example.input, (key, value) =>
    ["tool_input", "toolArgs", "args"].includes(key) ? { command: "old" } : value,
  );
  return readExample(host, { ...example, input: JSON.parse(text) });
};

const gateOf = (host: Host): string =>
  Object.keys(host.events).find((event) => host.events[event]?.ahp === "pre_action") ?? "";

const decisionTable = (): string =>
  table(
    ["decision", ...names],
    decisions.map(([name, decision, options]) => [
      name,
      ...hosts.map((host) => effectOf(answerHook(commandCall(host, gateOf(host)), decision, options))),
    ]),
  );

/** What each decision is written as for one host. */
const answersOf = (host: Host): string => {
  const event = gateOf(host);
  const asked = Object.keys(host.events).find((name) => host.events[name]?.asksUser);
  const rows = decisions.map(([name, decision, options]) => {
    const answer = shown(answerHook(commandCall(host, event), decision, options));
    const isApproved = decision.decision === "allow" && "metadata" in decision;
    if (asked === undefined || !isApproved) return [name, answer];
    return [name, `${answer}; to ${code(asked)}: ${shown(answerHook(commandCall(host, asked), decision))}`];
  });
  return `### ${host.name}\n\n${table(["decision", `answer to ${code(event)}`], rows)}`;
};

const failureTable = (): string => {
  const rows = hosts.map(({ name, failures }) => [
    name,
    ...hookFailures.map((failure) => {
      const { documented, withSettings } = failures[failure];
      return `${documented}${withSettings ? `; with our settings: ${withSettings}` : ""}`;
    }),
  ]);
  return table(["host", ...hookFailures.map((failure) => failure.replace("_", " "))], rows);
};

const timeTable = (): string =>
  table(
    ["host", "waits (default)", "settings field", "deadline for the guard"],
    hosts.map((host) => [
      host.name,
      `${host.timing.defaultMs / 1000} s`,
      `${code(host.timing.field)}, in ${host.timing.unit}`,
      `${deadlineMs(host) / 1000} s`,
    ]),
  );

const eventTable = (): string => {
  const types = ["pre_action", "post_action", "pre_prompt", "post_response", "session_start", "session_end"];
  const rows = types.map((type) => [
    code(type),
    ...hosts.map(({ events }) =>
      Object.keys(events)
        .filter((name) => events[name]?.ahp === type)
        .map((name) => {
          const { blocks, asks, modifies, asksUser } = events[name] ?? {};
          const marks = [
            blocks ? "" : "reported",
            asksUser ? "answers for the user" : "",
            asks ? "asks" : "",
            modifies ? `changes ${modifies}` : "",
          ];
          const text = marks.filter(Boolean).join(", ");
          return `${code(name)}${text && type.startsWith("pre") ? ` (${text})` : ""}`;
        })
        .join(", "),
    ),
  ]);
  return table(["AHP event", ...names], rows);
};

const toolTable = (): string => {
  const tools = [...new Set(hosts.flatMap((host) => Object.values(host.tools).map(({ tool }) => tool)))];
  const rows = tools.map((tool) => [
    code(tool),
    ...hosts.map((host) =>
      Object.keys(host.tools)
        .filter((name) => host.tools[name]?.tool === tool)
        .map(code)
        .join(", "),
    ),
  ]);
  return table(["policy's name", ...names], rows);
};

const sourceTable = (): string =>
  table(
    ["host", "oldest version", "checked against", "settings files"],
    hosts.map(({ name, minimum, checked, settings }) => [
      name,
      minimum?.version ?? "not known",
      checked,
      settings.files.map(code).join(", "),
    ]),
  );

const gapTable = (): string =>
  table(
    ["host", "what its hooks do not show"],
    hosts.map(({ name, gaps }) => [name, gaps.length === 0 ? "nothing is known" : gaps.join("; ")]),
  );

/** The tables of the guide, by the name of their place in it. */
export const tables = (): Readonly<Record<string, string>> => ({
  hosts: sourceTable(),
  events: eventTable(),
  tools: toolTable(),
  decisions: decisionTable(),
  failures: failureTable(),
  gaps: gapTable(),
  times: timeTable(),
});

/** What each decision is written as, for each host. */
export const answers = (): string => `${hosts.map(answersOf).join("\n\n")}\n`;
