import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { repositoryRoot } from "../../lib/root.mjs";
import { Violation } from "../violation.mjs";

/** Kills hubs, agents and the browser that answers, in a process of their own. Rejects with a {@link Violation}. */
export const tellHubStory = (engine) => async (random, deaths) => {
  const script = join(repositoryRoot, "scripts/crash/hub.mjs");
  const seed = String(random.between(1, 1_000_000));
  const args = [script, "--engine", engine, "--kills", String(deaths), "--seed", seed];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) throw new Violation(`${args.join(" ")}\n${errors || out}`);
  const found =
    /killed: hub (\d+), agent (\d+), browser (\d+); approvals (\d+), .* in the page (\d+), effects (\d+)/.exec(
      out,
    );
  if (found === null) throw new TypeError(`no figures in ${out}`);
  const [, hubs, agents, browsers, approvals, inPage, effects] = found.map(Number);
  return {
    kills: hubs + agents + browsers,
    hubs,
    agents,
    browsers,
    approvals,
    "answered in the page": inPage,
    effects,
  };
};
