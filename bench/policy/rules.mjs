// 200 rules, 50 of them with an expression: as a policy, and written by hand without a policy file.

/** The tools of the events, in turn, with the argument that the rules look at. */
const fields = { bash: "command", write: "path", edit: "path", fetch: "url", query: "sql" };
const tools = Object.keys(fields);

const rules = tools.flatMap((tool) =>
  Array.from({ length: 40 }, (_, index) => ({
    name: `${tool}-${index}`,
    tool: index % 4 === 0 ? tool : `${tool}_${index}`,
    field: fields[tool],
    // Every fourth has an expression, of three kinds in turn.
    kind: index % 4 === 0 ? (index / 4) % 3 : undefined,
    word: `word${index}`,
  })),
);

const celOf = ({ kind, field, word }) =>
  [
    `args.${field}.contains("${word}")`,
    `args.${field}.startsWith("${word}") && depth < 3`,
    `size(args.${field}) > 100 || args.${field} == "${word}"`,
  ][kind];

/** The policy in YAML. */
export const policyText = `version: 1
defaults: { gate: allow }
rules:
${rules
  .map((rule) => {
    const cel = rule.kind === undefined ? "" : `, cel: '${celOf(rule)}'`;
    return `  - { name: ${rule.name}, when: { tool: ${rule.tool}${cel} }, then: { decision: block, reason: no ${rule.word} } }`;
  })
  .join("\n")}
`;

const holds = ({ kind, word }, text, depth) => {
  if (kind === undefined) return true;
  if (kind === 0) return text.includes(word);
  if (kind === 1) return text.startsWith(word) && depth < 3;
  return text.length > 100 || text === word;
};

/** The same, by hand: asked in order, one after the other, with the same answer. */
export const byHand = ({ payload: { tool_name, arguments: args }, depth }) => {
  for (const rule of rules) {
    if (tool_name !== rule.tool) continue;
    const text = args?.[rule.field];
    if (!holds(rule, typeof text === "string" ? text : "", depth)) continue;
    const policy = { name: "hand", rule: rule.name, why: rule.tool };
    return { decision: "block", reason: `no ${rule.word} (rule ${rule.name})`, metadata: { policy } };
  }
  return { decision: "allow", metadata: { policy: { name: "hand", why: "no rule applies" } } };
};

const texts = ["nothing of note here", "word20 is here", "word24", "quite another text", "src/index.ts"];

/** Events that go through all rules of their tool, and some that end at one. */
export const events = tools.flatMap((tool) =>
  texts.map((text) => ({
    event_type: "pre_action",
    session_id: "ses_0a1b2c3d4e5f",
    agent_id: "agent_0a1b2c3d4e5f",
    timestamp: "2026-01-01T00:00:00Z",
    depth: 0,
    payload: { tool_name: tool, arguments: { [fields[tool]]: text } },
  })),
);
