// The agent that is struck. `plan.json` in its directory says where it waits on its way into service and what it does to
// itself there; `strike` says what it does at SIGUSR2. What it has come to stands in `journal`, a line each.
import { spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync, readFileSync } from "node:fs";
import { built } from "./built.mjs";

/** Nothing here outlives a run that went wrong by much. */
const lifetimeMs = 120_000;

const launchId = process.env.HARNESS_LAUNCH_ID;
const note = (what, requestId) =>
  appendFileSync("journal", `${JSON.stringify({ what, launchId, requestId })}\n`);
const plan = JSON.parse(readFileSync("plan.json", "utf8"));
const { id } = JSON.parse(readFileSync("opensentience.agent.json", "utf8"));
note("start");
setTimeout(() => process.exit(3), lifetimeMs).unref();

let socket;
let cutsNext = false;

const strikes = {
  spin: () => {
    for (const until = Date.now() + lifetimeMs; Date.now() < until; );
  },
  cut: () => {
    cutsNext = socket === undefined;
    socket?.destroy();
  },
};
process.on("SIGUSR2", () => strikes[readFileSync("strike", "utf8")]());
if (plan.strike) setTimeout(strikes[plan.strike], plan.strikeAfterMs);

/** The message after which it waits: it is not sent. */
const heldMessage = { hello: '"agent.hello"', register: '"agent.tools.register"' }[plan.hold];

subscribe("net.client.socket", ({ socket: opened }) => {
  socket = opened;
  if (cutsNext) setImmediate(strikes.cut);
  if (!heldMessage) return;
  opened.once("connect", () => {
    const write = opened.write;
    opened.write = (bytes, ...rest) => {
      if (!Buffer.from(bytes).includes(heldMessage)) return write.call(opened, bytes, ...rest);
      note("held");
      return false;
    };
  });
});
if (plan.hold === "connect") {
  note("held");
  await new Promise(() => setInterval(() => {}, lifetimeMs));
}

const { defineAgent, tool } = await import(built.agentSdk);

/** Settles when the call is no longer wanted; a stubborn one takes no notice. */
const untilUnwanted = ({ stubborn }, { signal, requestId }) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      note("aborted", requestId);
      if (!stubborn) reject(signal.reason);
    });
  });

const make = (name, run) =>
  tool({
    name,
    description: name,
    input: { type: "object", properties: { stubborn: { type: "boolean" } } },
    run: (input, context) => {
      note("ran", context.requestId);
      return run(input, context);
    },
  });

const tools = [
  make("quick", () => ({ done: true })),
  make("hold", untilUnwanted),
  make("stream", (input, context) => {
    const timer = setInterval(() => void context.stdout("more ").catch(() => clearInterval(timer)), 5);
    context.signal.addEventListener("abort", () => clearInterval(timer));
    return untilUnwanted(input, context);
  }),
  make("busy", strikes.spin),
  make("child", () => {
    const child = spawn("sleep", [String(lifetimeMs / 1000)], { detached: true, stdio: "ignore" });
    child.unref();
    return { pid: child.pid };
  }),
];
await defineAgent({ id, version: "1.0.0", tools, onError: () => {} }).run({ exit: !plan.stays });
if (plan.stays) setInterval(() => {}, lifetimeMs);
