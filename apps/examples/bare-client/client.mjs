// A whole client of the thread protocol with nothing but Node: starts the server that its arguments name, has it run
// a command, allows that, and checks what came of it.
//   node client.mjs npx harness serve
import assert from "node:assert/strict";
import { spawn } from "node:child_process";

const [command = "harness", ...args] = process.argv.slice(2);
const server = spawn(command, args.length > 0 ? args : ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => server.once("exit", resolve));

const calls = new Map();
const items = [];
let nextId = 1;
let endTurn;
const turnEnd = new Promise((resolve) => (endTurn = resolve));

function call(method, params) {
  const id = nextId++;
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return new Promise((resolve, reject) => calls.set(id, { resolve, reject }));
}

function receive({ id, method, params, result, error }) {
  if (id !== undefined) {
    const { resolve, reject } = calls.get(id);
    calls.delete(id);
    return error ? reject(new Error(error.message)) : resolve(result);
  }
  if (method === "approval.requested") {
    console.log(`allowed: ${JSON.stringify(params.metadata.input)}`);
    void call("approval.respond", { requestId: params.requestId, decision: "once" });
  }
  if (method === "item.completed") items.push(params.item);
  if (method === "turn.completed" || method === "turn.error") endTurn({ method, params });
}

let rest = "";
server.stdout.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) receive(JSON.parse(line));
});

await call("initialize", { clientInfo: { name: "bare-client" } });
const { thread } = await call("thread.create", { title: "Bare client" });
await call("turn.start", {
  threadId: thread.threadId,
  input: [{ type: "text", text: "run the command: echo it works" }],
});
const { method, params } = await turnEnd;
assert.equal(`${method} ${params.status}`, "turn.completed completed");
const tool = items.find(({ type }) => type === "tool_exec");
assert.deepEqual([tool.data.status, tool.data.output.stdout], ["succeeded", "it works\n"]);

server.stdin.end();
assert.equal(await exited, 0);
console.log(`done: ${thread.threadId}`);
