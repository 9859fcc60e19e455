const layer0 = ["protocol"];
const layer1 = ["wire", "node-kit", "audit"];
const transports = ["transport-stdio", "transport-uds", "transport-http"];
const roles = [
  "thread-client",
  "thread-server",
  "ahp-client",
  "ahp-server",
  "shell-client",
  "shell-engine",
  "graph",
  "approvals",
  "timeline",
];
const below2 = [...layer0, ...layer1];
const below3 = [
  ...below2,
  ...transports,
  "models",
  "models-offline",
  "command-judge",
  "agent-hooks",
  "policy",
  ...roles,
];

const role = { layer: 2, imports: below2 };

/**
 * Who may import whom: imports go down only. A name in `imports` stands for a sibling and all its entries, a name
 * with a slash for that entry only. `external`, where given, is the whole list of permitted foreign packages.
 * `noNode` forbids `node:` imports in the sources; `browser` lists the entries whose built files must hold none
 * either (`"*"`: all entries). A package that is not in the table fails the check.
 */
export const layers = {
  protocol: { layer: 0, imports: [], external: ["zod"], noNode: true, browser: "*" },
  wire: {
    layer: 1,
    imports: ["protocol/base", "protocol/envelope"],
    external: ["@opentelemetry/api"],
    noNode: true,
    browser: "*",
  },
  "node-kit": { layer: 1, imports: ["wire"], external: ["@types/node"] },
  audit: { layer: 1, imports: [...layer0, "wire", "node-kit"] },
  "transport-stdio": { layer: 2, imports: [...layer0, "wire", "node-kit"] },
  "transport-uds": { layer: 2, imports: [...layer0, "wire", "node-kit"] },
  "transport-http": { layer: 2, imports: [...layer0, "wire", "node-kit"], browser: [".", "./ai-sdk-ui"] },
  models: { layer: 2, imports: ["models-offline"], browser: "*" },
  "models-offline": { layer: 2, imports: [], browser: "*" },
  "command-judge": { layer: 2, imports: ["audit", "wire"], noNode: true, browser: "*" },
  "agent-hooks": { layer: 2, imports: ["protocol", "wire"], noNode: true, browser: "*" },
  policy: { layer: 2, imports: below2, browser: ["."] },
  "thread-client": { ...role, browser: "*" },
  "thread-server": { ...role, browser: [".", "./ai-sdk"] },
  "ahp-client": { ...role, browser: [".", "./ai-sdk", "./thread-gates"] },
  "ahp-server": role,
  "shell-client": { ...role, browser: "*" },
  "shell-engine": { ...role, noNode: true, browser: ["."] },
  graph: { ...role, browser: ["."] },
  approvals: { ...role, noNode: true, browser: "*" },
  timeline: { ...role, noNode: true, browser: "*" },
  otel: {
    layer: 2,
    imports: ["wire"],
    external: ["@opentelemetry/api", "@opentelemetry/sdk-node"],
    browser: ["."],
  },
  "agent-sdk": { layer: 3, imports: below3 },
  "core-runtime": { layer: 3, imports: below3 },
  "chat-harness": { layer: 3, imports: below3 },
  "shell-engine-chat": { layer: 3, imports: [...below3, "chat-harness"] },
  "mcp-agent": { layer: 3, imports: [...below3, "agent-sdk"] },
  guard: { layer: 3, imports: [...below3, "hub/place"] },
  notify: { layer: 3, imports: below3 },
  hub: { layer: 3, imports: below3, browser: ["./client"] },
  "store-postgres": { layer: 3, imports: below3 },
  "store-sqlite": { layer: 3, imports: below3 },
};

/** A source file has at most this many lines. */
export const maxSourceLines = 300;
