// Runs a thread server that has a language model as its agent, such as `harness serve`, with a model that does what the
// prompts of the suite say:
//
//   npx @harnesskit/conformance threads-server --stdio 'node harness-serve.mjs npx harness serve'
//
// The model speaks the chat completions of OpenAI on a port of its own. What is behind the name of this file is the command
// of the server; it gets --model and --cwd.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";

const stepsOf = (text) => {
  try {
    return JSON.parse(text).conformance ?? [{ say: "I am the model of the suite" }];
  } catch {
    return [{ say: "I am the model of the suite" }];
  }
};

/** The last prompt: prompts without an answer between them come as parts of one message. */
const textOf = ({ content }) => (typeof content === "string" ? content : (content?.at(-1)?.text ?? ""));

/** What the model says next: the steps behind the calls that have their results, up to the next call. */
const nextSteps = (messages) => {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const done = messages.slice(asked + 1).filter(({ role }) => role === "tool").length;
  const steps = stepsOf(textOf(messages[asked] ?? {}));
  const calls = steps.flatMap((step, index) => ("run" in step ? [index] : []));
  const from = done === 0 ? 0 : (calls[done - 1] ?? steps.length) + 1;
  return steps.slice(from, calls[done] === undefined ? undefined : calls[done] + 1);
};

const callOf = (name, input) => ({
  tool_calls: [
    {
      index: 0,
      id: `call-${Math.random().toString(36).slice(2)}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    },
  ],
});

const deltasOf = (step) => {
  if ("say" in step) return step.say.split(/(?<= )/).map((content) => ({ content }));
  if ("think" in step) return [{ reasoning_content: step.think }];
  if ("who" in step) return [{ content: "test/suite" }];
  if ("run" in step) return [callOf("bash", { command: step.run })];
  // Tools record artifacts; no tool of the server does so on demand.
  if ("artifact" in step) return [{ content: "There is no such tool" }];
  return [];
};

const answer = async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const steps = nextSteps(JSON.parse(body).messages);
  const failure = steps.find((step) => "fail" in step);
  if (failure !== undefined) {
    response.writeHead(400, { "content-type": "application/json" });
    return void response.end(
      JSON.stringify({ error: { message: failure.fail, type: "invalid_request_error" } }),
    );
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, reason = null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    const chunk = { id: "chunk", object: "chat.completion.chunk", created: 0, model: "suite", choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: "assistant", content: "" });
  for (const delta of steps.flatMap(deltasOf)) send(delta);
  // A model that waits does so until the server gives up.
  if (steps.some((step) => "wait" in step)) return;
  send({}, steps.some((step) => "run" in step) ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
};

const model = createServer(
  (request, response) => void answer(request, response).catch(() => response.destroy()),
);
model.listen(0, "127.0.0.1");
await once(model, "listening");
const [, , program = "harness", ...args] = process.argv;
const url = `http://127.0.0.1:${model.address().port}/v1`;
const given = ["--model", `openai-compatible:${url}#suite`, "--cwd", process.env.CONFORMANCE_DIR ?? "."];
const server = spawn(program, [...args, ...given], { stdio: "inherit" });
const [code] = await once(server, "exit");
process.exit(code ?? 1);
