import type { Resolved } from "@harnesskit/wire";
import type { HookCommand } from "../settings/host-settings.ts";

/**
 * The content of the plugin file: it runs the command in a shell for each call of a tool, and throws, which refuses the call, unless
 * the command exits with 0 and answers `{"decision":"allow"}`. An answer's `args` replace the arguments.
 */
export const opencodePlugin = ({ command, timeoutMs }: Resolved<HookCommand>): string =>
  `// Written by harnesskit; changes are lost. It asks a guard before each call of a tool, and refuses the call without an answer.
import { spawn } from "node:child_process";

const command = ${JSON.stringify(command)};
const timeoutMs = ${timeoutMs};
const maxBytes = 8 * 1024 * 1024;

const ask = (input) =>
  new Promise((resolve, reject) => {
    const refuse = (reason) => reject(new Error("harnesskit: " + (reason || "the guard gave no reason")));
    const detached = process.platform !== "win32";
    const child = spawn(command, { shell: true, detached, stdio: ["pipe", "pipe", "pipe"] });
    const end = (reason) => {
      try {
        if (detached) process.kill(-child.pid, "SIGKILL");
        else child.kill();
      } catch {}
      refuse(reason);
    };
    const timer = setTimeout(end, timeoutMs, "the guard did not answer in time");
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (chunk) => {
        texts[name] += chunk;
        if (texts[name].length > maxBytes) end("the guard's answer is too large");
      });
    }
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(timer);
      refuse("the guard did not start: " + error.message);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code !== 0) return refuse(texts.stderr.trim().slice(0, 2000));
      try {
        const answer = JSON.parse(texts.stdout);
        if (answer.decision === "allow") return resolve(answer);
        refuse(answer.reason);
      } catch {
        refuse("the guard's answer is not JSON");
      }
    });
    child.stdin.end(JSON.stringify(input));
  });

export const Harnesskit = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
    const answer = await ask({ event: "tool.execute.before", tool, sessionID, callID, directory, args: output.args });
    if (answer.args === undefined) return;
    for (const name of Object.keys(output.args)) delete output.args[name];
    Object.assign(output.args, answer.args);
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
    const result = output.output;
    await ask({ event: "tool.execute.after", tool, sessionID, callID, directory, args, output: result }).catch(() => {});
  },
});
`;
