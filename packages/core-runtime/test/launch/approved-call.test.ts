import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryAuditSink } from "@harnesskit/audit";
import { expect, it, onTestFinished } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { createMemoryGrants, toGrants } from "../../src/index.ts";
import { createAgentHost, createAgentTools } from "../../src/thread-tools/index.ts";

const sdk = await sourceBundle(new URL("../../../agent-sdk/src/index.ts", import.meta.url));
const agentId = "com.example.ops";
const program = `
  import { defineAgent, tool } from ${JSON.stringify(sdk)};
  const deploy = tool({ name: "deploy", description: "Deploys", input: { type: "object" }, effects: "execute",
    requiresDirective: true, run: (input, context) => ({ input, cause: context.causationId }) });
  await defineAgent({ id: "${agentId}", version: "1.0.0", tools: [deploy] }).run();
`;

it("calls a tool that requires a directive with one for exactly the call that a human approved, once", async () => {
  const directory = await mkdtemp(join(tmpdir(), "hk-approved-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const manifest = { id: agentId, version: "1.0.0", command: [process.execPath, "agent.mjs"] };
  await writeFile(join(directory, "opensentience.agent.json"), JSON.stringify(manifest));
  await writeFile(join(directory, "agent.mjs"), program);
  const audit = createMemoryAuditSink();
  const host = createAgentHost({
    agents: [{ agentId, directory }],
    grants: createMemoryGrants(
      toGrants({ agent_id: agentId, permissions: ["side_effects"], granted_by: "ada" }),
    ),
    environment: process.env,
    version: "1.0.0",
    openAudit: async () => audit,
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const [deploy] = await createAgentTools({ host })();
  if (!deploy) throw new TypeError("the tool is missing");
  const prepared = await deploy.prepare({ env: "staging" }, { callId: "item_1", threadId: "ses_1" });
  const context = { callId: "item_1", signal: new AbortController().signal, stdout() {}, stderr() {} };
  await expect(prepared.run(context)).rejects.toMatchObject({ code: "tool.directive_required" });
  const approval = { id: "apr_1", by: "ada's client" };
  expect(await prepared.run({ ...context, approval })).toMatchObject({
    input: { env: "staging" },
    cause: "item_1",
  });
  const issued = audit
    .entries()
    .filter((entry) => "action" in entry && entry.action.startsWith("directive."));
  expect(issued).toMatchObject([
    {
      action: "directive.issued",
      tool_id: `${agentId}/deploy`,
      actor: { type: "human", id: "ada's client" },
      causation_id: "apr_1",
      details: { max_uses: 1 },
    },
    { action: "directive.used", details: { uses: 1 } },
  ]);
});
