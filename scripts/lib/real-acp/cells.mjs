/** The policy of all cells. */
export const policy = `version: 1
name: real-acp
defaults: { gate: allow }
rules:
  - name: no-block
    when: { event: pre_action, cel: 'has(args.command) && args.command.contains("leave.sh block")' }
    then: { decision: block, reason: the policy says no }
  - name: ask
    when: { event: pre_action, cel: 'has(args.command) && args.command.contains("leave.sh ask")' }
    then: { decision: escalate, reason: a human has to say }
`;

const wasWithdrawn = ({ ran, record, did, end }) => ({
  holds: ran === "" && record?.status === "withdrawn",
  text: `${did}; ${record?.status}; turn ${end}`,
});

/**
 * What is tried: the `word` that the command leaves behind, what is done meanwhile, and `judge(seen)`, which returns `{ holds, text }`. In
 * a cell that `isQuiet` the editor must not be asked.
 */
export const cells = [
  {
    ...{ id: "allow", word: "allow", isQuiet: true },
    judge: ({ ran, row, base }) => ({
      holds: ran === "allow" && row?.type === "pre_action" && row.state === "done",
      text: base,
    }),
  },
  {
    ...{ id: "block", word: "block", isQuiet: true },
    judge: ({ ran, row, base }) => ({ holds: ran === "" && row?.state === "refused", text: base }),
  },
  {
    ...{ id: "approve", word: "ask", isQuiet: true, answer: { decision: "approve" } },
    judge: ({ ran, row, record, base }) => ({
      holds: ran === "ask" && row?.state === "done" && record?.effect === "done",
      text: `${base}; effect ${record?.effect}`,
    }),
  },
  {
    ...{
      id: "refuse",
      word: "ask",
      isQuiet: true,
      answer: { decision: "reject", note: "the human says no" },
    },
    judge: ({ ran, row, updates, base }) => {
      const isShown = JSON.stringify(updates).includes("the human says no");
      const text = `${base}; reason ${isShown ? "shown" : "not shown"} in the editor`;
      return { holds: ran === "" && row?.state === "refused" && isShown, text };
    },
  },
  {
    ...{ id: "fail", word: "fail" },
    // Gemini CLI calls a command completed whatever its exit code is, and does not say the code.
    judge: ({ row, rowText, agent }) => ({
      holds: row?.state === "failed" || agent === "gemini-cli",
      text: rowText,
    }),
  },
  {
    ...{ id: "unasked", word: "unasked" },
    judge: ({ ran, row, rowText, did, stderr, agents }) => {
      if (row === undefined) return { holds: ran === "", text: `${did}; reported nothing` };
      if (row.type === "pre_action") return { holds: true, text: `it asked: ${rowText}` };
      const protection = agents[0]?.protection?.kind;
      const isUnjudged = row.decision?.decision === "unjudged" && stderr.includes("not judged");
      return { holds: isUnjudged && protection === "partial", text: `${rowText}; agents: ${protection}` };
    },
  },
  { id: "cancel", word: "ask", cancel: "session/cancel", judge: wasWithdrawn },
  { id: "$/cancel_request", word: "ask", cancel: "$/cancel_request", judge: wasWithdrawn },
];
