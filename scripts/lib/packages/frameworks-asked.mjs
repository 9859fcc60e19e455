// Asks each server of the guide to web frameworks, in its folder: writes a JSON line `{ name, found }` for each.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { createHub } from "@harnesskit/hub";
import { serveHub } from "@harnesskit/hub/node";
import { hubPlace } from "@harnesskit/hub/place";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { createMemoryTimelineStore } from "@harnesskit/timeline";

const policy = createPolicyHarness({
  policy: parsePolicy(`
version: 1
defaults: { pre_prompt: allow }
rules:
  - { name: echo, when: { tool: bash, cel: 'args.command == "echo allowed"' }, then: allow }
  - { name: others, when: { tool: bash }, then: { decision: block, reason: only echo may run } }
`),
});
const hub = createHub({
  version: "1.0.0",
  policy,
  approvals: createMemoryApprovalStore(),
  timeline: createMemoryTimelineStore(),
});
await hub.start();
const served = await serveHub({ hub, place: hubPlace(), user: "ada" });

const authorization = `Bearer ${process.env.APP_TOKEN}`;
const json = { authorization, "content-type": "application/json" };

/** Starts a server on a free port, which `report-port.mjs` prints; returns its address and a function that kills it. */
async function start(args) {
  const child = spawn(
    process.execPath,
    ["--import", new URL("./report-port.mjs", import.meta.url).href, ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PORT: "0" },
    },
  );
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    if (port === undefined) continue;
    child.stdout.resume();
    return {
      url: `http://localhost:${port}`,
      async kill() {
        const exit = once(child, "exit");
        child.kill("SIGKILL");
        await exit;
      },
    };
  }
  throw new Error(`${args.join(" ")} ended before it listened`);
}

const openharness = {
  protocol_version: "1.0.0",
  capabilities: {},
  request: { context: { user_intent: "hello" } },
};
const intent = async (url, origin) => {
  const headers = { ...json, ...(origin && { origin }) };
  const answer = await fetch(`${url}/openharness`, {
    method: "POST",
    headers,
    body: JSON.stringify(openharness),
  });
  return answer.ok ? (await answer.json()).response.action_directives[0].payload.message : answer.status;
};
const prompt = async (url, body, headers = { authorization }) => {
  const answer = await fetch(`${url}/agent`, { method: "POST", headers, body });
  return answer.ok ? answer.text() : answer.status;
};
const said = (id) => ({
  id,
  messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "list files" }] }],
});

for (const [name, args] of Object.entries(JSON.parse(process.argv[2]))) {
  let server = await start(args);
  const answered = await fetch(`${server.url}/api/chat`, {
    method: "POST",
    headers: json,
    body: JSON.stringify(said(name)),
  });
  const stream = await answered.text();
  const found = {
    engine: await intent(server.url),
    otherOrigin: await intent(server.url, "https://evil.example"),
    chat: /"type":"text-delta"/.test(stream) ? "streamed" : `${answered.status} ${stream}`,
    allowed: (await prompt(server.url, "run the command: echo allowed")).includes("allowed"),
    blocked: (await prompt(server.url, "run the command: echo other")).includes("only echo may run"),
    withoutToken: await prompt(server.url, "run the command: echo allowed", {}),
  };
  await server.kill();
  server = await start(args);
  const kept = await fetch(`${server.url}/api/chat/${name}/messages`, { headers: json });
  const messages = kept.ok ? await kept.json() : [];
  console.log(
    JSON.stringify({ name, found: { ...found, afterKill: messages.map(({ role }) => role).join() } }),
  );
  await server.kill();
}
await served.close();
await hub.close();
