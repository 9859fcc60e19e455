import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAhpClient } from "@harnesskit/ahp-client";
import { hubPlace } from "@harnesskit/hub/place";
import { hubPaths } from "@harnesskit/protocol/hub";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { expect, it, onTestFinished } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { startHarness } from "./support/in-process.ts";

/** A stand-in of a service that takes webhooks. */
const startReceiver = async () => {
  const bodies: { readonly data: { readonly approvals: { title: string; answerLink: string }[] } }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
};

it("harness hub --notify tells what waits, and its link answers the agent that is held", async () => {
  const cwd = await makeWorkspace();
  const receiver = await startReceiver();
  await writeFile(
    join(cwd, "notify.yaml"),
    `version: 1\ntargets: { phone: { kind: webhook, url: { env: HOOK_URL } } }\nnotify: [{ to: [phone] }]\nanswerLinks: { forMinutes: 5 }\n`,
  );
  const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: "", HOOK_URL: receiver.url };
  const program = startHarness(["hub", "--quiet", "--notify", "notify.yaml"], { cwd, env });
  await program.reports(/page: http:\/\/127\.0\.0\.1:\d+/);
  const agent = createAhpClient({
    transport: createUnixTransport({ path: hubPlace({ env }).socket, framing: "newline" }),
    ...{ framework: "test", version: "1.0.0", agentId: "codex", sessionId: "s1" },
  });
  onTestFinished(() => agent.close());
  await agent.connect();
  const asking = agent.decide("pre_action", {
    ...{ action_type: "tool_call", tool_name: "deploy", tool_call_id: "c1" },
    arguments: { to: "production" },
  });
  await expect.poll(() => receiver.bodies.length).toBe(1);
  const [approval] = receiver.bodies[0]?.data.approvals ?? [];
  expect(approval?.title).toBe("deploy: call it with this input");
  const link = new URL(approval?.answerLink ?? "");
  const said = await fetch(new URL(hubPaths.answer, link), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: link.hash.slice(1), decision: "approve" }),
  });
  expect(said.status).toBe(200);
  expect((await asking).decision).toMatchObject({ decision: "allow" });
});
