import { join } from "node:path";

/** What the model gives its subagent to do. */
const part = "run the part";

/** The policy of all cells. */
export const policy = `version: 1
name: real-agents
defaults: { gate: allow, pre_prompt: allow }
rules:
  - name: no
    when: { tool: bash, cel: 'args.command.contains("leave.sh block")' }
    then: { decision: block, reason: history is not rewritten }
  - name: ask
    when: { tool: bash, cel: 'args.command.contains("leave.sh ask")' }
    then: { decision: escalate, reason: a human publishes }
  - name: dry
    when: { tool: bash, cel: 'args.command.contains("leave.sh before")' }
    then: { decision: modify, set: { arguments.command: ./leave.sh after } }
  - name: silent
    when: { tool: bash, cel: 'args.command.contains("leave.sh allow")' }
    then: allow
  - name: go
    when: { event: pre_action }
    then: { decision: allow, skipHostPrompt: true }
`;

const hasRun = (ran, ...words) =>
  ran.length === words.length && words.every((word, index) => ran[index] === word);
const states = (rows) => rows.map(({ state }) => state).join(", ") || "no row";
const count = (ran) =>
  ran.length === 0 ? "did not run" : ran.length === 1 ? "ran" : `ran ${ran.length} times`;
/** What was seen on the disk and in the timeline, in words. */
const seen = ({ ran, rows }) => `${count(ran)}; timeline: ${states(rows)}`;
const heard = (outputs, text) =>
  outputs.some((output) => output.includes(text))
    ? "the model reads the reason"
    : "the model does not read the reason";

const oneCommand = (command) => (host, outputs) =>
  outputs.length === 0 ? { calls: [host.bash(command)] } : { say: "done" };

/** Through ACP the guard answers: the editor is not asked. */
const isQuiet = ({ asked = [] }) => asked.length === 0;

/**
 * The cells of both ways, by hooks and through ACP. Each has the `command` that the model runs, what the human answers (`human`), and
 * `judge(seen)`, which returns `{ holds, text }` from `{ ran, rows, outputs, records, project }`, and for ACP `{ asked, updates, … }`.
 */
const common = [
  {
    id: "allow",
    name: "the policy allows",
    command: "./leave.sh allow",
    // Whether it runs is the agent's own affair; that it is recorded as what it was is the guard's.
    judge: (run) => {
      const isDone = states(run.rows) === "done";
      const holds = hasRun(run.ran, "allow") ? isDone : !isDone && run.asked === undefined;
      return { holds: holds && isQuiet(run), text: seen(run) };
    },
  },
  {
    id: "block",
    name: "the policy blocks",
    command: "./leave.sh block",
    judge: (run) => {
      const why = heard(run.outputs, "history is not rewritten");
      const holds = run.ran.length === 0 && states(run.rows) === "refused" && isQuiet(run);
      return { holds, text: `${seen(run)}; ${why}` };
    },
  },
  {
    id: "approve",
    name: "approved in the inbox",
    ...{ human: "approve", command: "./leave.sh ask" },
    judge: (run) => {
      const effect = run.records.map(({ status, effect }) => `${status}/${effect ?? "no effect"}`).join(", ");
      const isDone = states(run.rows) === "done" && effect === "approved/done";
      const holds = hasRun(run.ran, "ask") && isDone && isQuiet(run);
      return { holds, text: `${seen(run)}; inbox: ${effect || "nothing asked"}` };
    },
  },
  {
    id: "refuse",
    name: "refused in the inbox",
    ...{ human: "reject", command: "./leave.sh ask" },
    judge: (run) => {
      const status = run.records.map((record) => record.status).join(", ");
      const isRefused = run.ran.length === 0 && states(run.rows) === "refused" && status === "rejected";
      const isShown = run.updates === undefined || JSON.stringify(run.updates).includes("the human says no");
      const holds = isRefused && isShown && isQuiet(run);
      return { holds, text: `${seen(run)}; inbox: ${status || "nothing asked"}` };
    },
  },
  {
    id: "fail",
    name: "the tool fails (exit code 3)",
    ...{ human: "approve", command: "./leave.sh ask; exit 3" },
    // Through ACP, Gemini CLI calls a command completed whatever its exit code is, and does not say the code.
    judge: (run) => {
      const isFailed = states(run.rows) === "failed" || run.agent === "gemini-cli-acp";
      return { holds: hasRun(run.ran, "ask") && isFailed, text: seen(run) };
    },
  },
];

/**
 * What hooks are tried with besides, with the model's own `script(agent, outputs, request, machine)`; `without(agent)` says why a cell
 * cannot be run.
 */
const hooksOnly = [
  {
    id: "skip",
    name: "the policy allows, with `skipHostPrompt`",
    script: oneCommand("./leave.sh go"),
    judge: (run) => ({ holds: hasRun(run.ran, "go") && states(run.rows) === "done", text: seen(run) }),
  },
  {
    id: "modify",
    name: "changed by the policy",
    script: oneCommand("./leave.sh before"),
    judge: (run) => {
      const what = run.ran.length === 0 ? "" : ` as \`${run.ran.join(", ")}\``;
      return {
        holds: hasRun(run.ran, "after") && states(run.rows) === "done",
        text: `${count(run.ran)}${what}; timeline: ${states(run.rows)}`,
      };
    },
  },
  {
    id: "down",
    name: "the hub is killed before the call",
    script: async (host, outputs, _request, machine) => {
      if (outputs.length === 0) await machine.killHub();
      return oneCommand("./leave.sh down")(host, outputs);
    },
    judge: (run) => {
      const why = heard(run.outputs, "the hub does not run");
      const holds = run.ran.length === 0 && !why.includes("not read");
      return { holds, text: `${count(run.ran)}; ${why}` };
    },
  },
  {
    id: "cd",
    name: "the model changes its directory",
    script: (host, outputs, _request, { project }) =>
      outputs.length < 2
        ? { calls: [host.bash(outputs.length === 0 ? "cd below" : `${join(project, "leave.sh")} cd`)] }
        : { say: "done" },
    judge: (run) => {
      const places = [...new Set(run.rows.map(({ workspace = "none" }) => workspace))];
      const isOne = places.length === 1 && places[0] === run.project;
      const shown = places.map((place) => place.replace(run.project, "the project")).join(", ");
      const holds = hasRun(run.ran, "cd") && isOne && states(run.rows) === "done, done";
      return { holds, text: `${seen(run)}; workspace: ${shown}` };
    },
  },
  {
    id: "subagent",
    name: "a subagent",
    script: (host, outputs, { prompts }) => {
      const isSubagent =
        prompts.some((prompt) => prompt.includes(part)) &&
        !prompts.some((prompt) => prompt.includes("go on"));
      if (isSubagent)
        return outputs.length === 0 ? { calls: [host.bash("./leave.sh sub")] } : { say: "part done" };
      if (outputs.length === 0) return { calls: [host.subagent(part)] };
      const after = outputs.length === 1 ? host.afterSubagent?.(outputs) : undefined;
      return after === undefined ? { say: "done" } : { calls: [after] };
    },
    judge: (run) => {
      const [row, ...more] = run.rows.filter(({ command }) => command?.includes("leave.sh sub"));
      const text = row === undefined ? "no row of its own" : `a row with depth ${row.depth}, ${row.state}`;
      const holds = hasRun(run.ran, "sub") && more.length === 0 && row?.depth > 0 && row.state === "done";
      return { holds, text: `${count(run.ran)}; ${text}` };
    },
  },
  {
    id: "typed",
    name: "typed into a shell that runs (no hook is asked)",
    without: (host) => (host.type === undefined ? "it offers no tool for this" : undefined),
    script: (host, outputs, _request, { project }) => {
      const step = host.type[outputs.length];
      return step === undefined
        ? { say: "done" }
        : { calls: [step(`${join(project, "leave.sh")} block typed\n`, outputs)] };
    },
    judge: (run) => {
      const row =
        run.rows.length > 1 ? `${run.rows.length} rows: ${states(run.rows)}` : `one row: ${states(run.rows)}`;
      return { holds: run.ran.length === 0, text: `${count(run.ran)}; ${row}` };
    },
  },
  {
    id: "parallel",
    name: "two identical calls at one time",
    script: (host, outputs) =>
      outputs.length === 0
        ? { calls: [host.bash("./leave.sh twin"), host.bash("./leave.sh twin")] }
        : { say: "done" },
    judge: (run) => ({
      holds: hasRun(run.ran, "twin", "twin") && states(run.rows) === "done, done",
      text: seen(run),
    }),
  },
];

const isWithdrawn = ({ ran, records, end }) => ({
  holds: ran.length === 0 && records[0]?.status === "withdrawn",
  text: `${count(ran)}; ${records[0]?.status}; turn ${end}`,
});

/** What ACP is tried with besides: a command that the agent does not ask about, and a turn that its editor cancels (`cancel`). */
const acpOnly = [
  {
    id: "unasked",
    name: "a command that the agent does not ask about",
    command: "./leave.sh unasked",
    judge: (run) => {
      const [row] = run.rows;
      if (row === undefined) return { holds: run.ran.length === 0, text: `${count(run.ran)}; no row` };
      if (row.type === "pre_action") return { holds: true, text: `it asked: ${states(run.rows)}` };
      const { kind } = run.protection ?? {};
      const isUnjudged = row.decision === "unjudged" && run.stderr.includes("not judged");
      return {
        holds: isUnjudged && kind === "partial",
        text: `${row.decision}, ${row.state}; agents: ${kind}`,
      };
    },
  },
  {
    ...{ id: "cancel", name: "the turn is cancelled", command: "./leave.sh ask", cancel: "session/cancel" },
    judge: isWithdrawn,
  },
];

export const hookCells = [...common, ...hooksOnly].map((cell) => ({
  script: oneCommand(cell.command),
  ...cell,
}));
export const acpCells = [...common, ...acpOnly];
