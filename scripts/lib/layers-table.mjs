/** Packages that a layer may import by itself: those of the layers below. */
const below = {
  0: [],
  1: ["protocol"],
  2: ["protocol", "wire", "node-kit", "audit"],
};

const table = {
  protocol: { layer: 0, external: ["zod"], noNode: true, browser: "*" },
  wire: {
    layer: 1,
    imports: ["protocol/base", "protocol/envelope"],
    external: ["@opentelemetry/api"],
    noNode: true,
    browser: "*",
  },
  "node-kit": { layer: 1, imports: ["wire"], external: ["@types/node"] },
  audit: { layer: 1, also: ["wire", "node-kit"] },
  "transport-stdio": { layer: 2 },
  "transport-uds": { layer: 2 },
  "transport-http": { layer: 2, browser: [".", "./ai-sdk-ui"] },
  models: { layer: 2, imports: ["models-offline"], browser: "*" },
  "models-offline": { layer: 2, imports: [], browser: "*" },
  "command-judge": { layer: 2, imports: ["audit", "wire"], noNode: true, browser: "*" },
  "agent-hooks": { layer: 2, imports: ["protocol", "wire"], noNode: true, browser: "*" },
  policy: { layer: 2, browser: ["."] },
  "thread-client": { layer: 2, browser: "*" },
  "thread-server": { layer: 2, browser: [".", "./ai-sdk"] },
  "ahp-client": { layer: 2, browser: [".", "./ai-sdk", "./thread-gates"] },
  "ahp-server": { layer: 2 },
  "shell-client": { layer: 2, browser: "*" },
  "shell-engine": { layer: 2, noNode: true, browser: ["."] },
  graph: { layer: 2, browser: ["."] },
  approvals: { layer: 2, noNode: true, browser: "*" },
  timeline: { layer: 2, noNode: true, browser: "*" },
  otel: {
    layer: 2,
    imports: ["wire"],
    external: ["@opentelemetry/api", "@opentelemetry/sdk-node"],
    browser: ["."],
  },
  "agent-sdk": { layer: 3 },
  "core-runtime": { layer: 3 },
  "chat-harness": { layer: 3 },
  "shell-engine-chat": { layer: 3, also: ["chat-harness"] },
  "mcp-agent": { layer: 3, also: ["agent-sdk"] },
  guard: { layer: 3, also: ["hub/place"] },
  notify: { layer: 3 },
  hub: { layer: 3, browser: ["./client"] },
  "store-postgres": { layer: 3 },
  "store-sqlite": { layer: 3 },
};
below[3] = Object.keys(table).filter((name) => table[name].layer < 3 && name !== "otel");

/**
 * Who may import whom: imports go down only, to all layers below (`also`: to these, too), or to `imports` alone. A name there stands for a
 * sibling and all its entries, a name with a slash for that entry only. `external`, where given, is the whole list of permitted foreign
 * packages. `noNode` forbids `node:` imports in the sources; `browser` lists the entries whose built files must hold none
 * either (`"*"`: all entries). A package that is not in the table fails the check.
 */
export const layers = Object.fromEntries(
  Object.entries(table).map(([name, { also = [], ...rule }]) => [
    name,
    { imports: [...below[rule.layer], ...also], ...rule },
  ]),
);

/** A source file has at most this many lines. */
export const maxSourceLines = 300;
