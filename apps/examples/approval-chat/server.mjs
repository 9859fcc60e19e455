import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { approvalRequestOf, createChatHarness, toApprovalPayload } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { createModel } from "@harnesskit/models";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { tool } from "ai";
import * as z from "zod";

const write = tool({
  description: "Writes a note.",
  inputSchema: z.object({ path: z.string(), content: z.string() }),
  needsApproval: true,
  execute: async ({ path, content }) => {
    await mkdir("notes", { recursive: true });
    await writeFile(join("notes", basename(path)), content);
    return { path, bytes: Buffer.byteLength(content) };
  },
});

const model = await createModel(process.env.MODEL ?? "offline");
const store = await openSqliteStore({ file: "data/chat.sqlite" });
const harness = createChatHarness({ graph: createChatGraph({ model, tools: { write } }), store });
await harness.recover();

const answerFrom = (turn) => {
  if (turn.outcome === "errored") return { error: turn.reply.content };
  if (turn.outcome === "completed") return { reply: turn.replies.at(-1)?.content ?? "" };
  return { waits_for: `/approve/${turn.signal_descriptor.signal_id}` };
};

const escapeHtml = (value) => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const page = ({ tool, input, digest }) => `<!doctype html><meta charset="utf-8"><title>Approval</title>
<h1>Call ${escapeHtml(tool)}?</h1><pre>${escapeHtml(JSON.stringify(input, null, 2))}</pre>
<form method="post"><input type="hidden" name="digest" value="${escapeHtml(digest)}">
<button name="decision" value="approve">Approve</button> <button name="decision" value="reject">Reject</button></form>`;

const routes = {
  // The link only shows what is asked: whoever follows links by itself approves nothing.
  "GET approve": async (signalId) => {
    const { suspended } = await harness.pending();
    const turn = suspended.find(({ signal_descriptor }) => signal_descriptor.signal_id === signalId);
    const request = turn && approvalRequestOf(turn.signal_descriptor);
    return request
      ? { status: 200, html: page(request) }
      : { status: 404, json: { error: "nothing waits here" } };
  },
  "POST approve": async (signalId, body) => {
    const { decision, digest } = Object.fromEntries(new URLSearchParams(body));
    const signal = await harness.signal({ signalId, payload: toApprovalPayload({ decision, digest }) });
    if (signal.outcome === "resumed") {
      // The answer to the button shows the end, so no other listener is needed.
      await harness.acknowledge(signal.invocation_id);
      return { status: 200, json: answerFrom(signal.turn) };
    }
    return signal.outcome === "errored"
      ? { status: 404, json: { error: signal.reply.content } }
      : { status: 409, json: { error: "it was answered already" } };
  },
  "POST chat": async (sessionId, body, type) => {
    // Another site cannot send this type unasked.
    if (type !== "application/json") return { status: 415, json: { error: "send application/json" } };
    return {
      status: 200,
      json: answerFrom(await harness.send(sessionId, { role: "user", content: JSON.parse(body).message })),
    };
  },
};

const server = createServer(async (request, response) => {
  const answer = async () => {
    const { port } = server.address();
    if (request.headers.host !== `127.0.0.1:${port}`) return { status: 403, json: { error: "another host" } };
    if (Number(request.headers["content-length"] ?? 0) > 100_000)
      return { status: 413, json: { error: "too long" } };
    const [, name, id = ""] = new URL(request.url, "http://127.0.0.1").pathname
      .split("/")
      .map(decodeURIComponent);
    const route = routes[`${request.method} ${name}`];
    if (!route) return { status: 404, json: { error: "no such place" } };
    return route(id, await text(request), request.headers["content-type"]);
  };
  const { status, html, json } = await answer().catch(() => ({
    status: 400,
    json: { error: "a bad request" },
  }));
  response.writeHead(status, { "content-type": html ? "text/html; charset=utf-8" : "application/json" });
  response.end(html ?? `${JSON.stringify(json)}\n`);
});
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
