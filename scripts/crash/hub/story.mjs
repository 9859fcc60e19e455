// Kills hubs and their agents at any moment between a question and its effect, and checks what is left: every answered approval has at most
// one effect, no effect is without an approval, nothing acknowledged is lost, what was not answered is still pending, and clients have seen
// every change. One hub with files, or three that share a database.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { openHubStores, urlOf } from "../stores.mjs";
import { must } from "../violation.mjs";
import { check, everyRow } from "./check.mjs";
import { Humans } from "./clients.mjs";

const start = async (name, args, url) => {
  const script = new URL(`./${name}-life.mjs`, import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...args], {
    // Its input ends with this process, however that ends.
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, HARNESS_STORE: url ?? "" },
  });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (child.exitCode !== null) throw new Error(`the ${name} ended with ${child.exitCode}`);
  return child;
};

const kill = async (child) => {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

/** Tells of hubs and agents that die. Rejects with a `Violation`. */
export const hubStory = (engine) => async (random, kills) => {
  const isShared = engine === "postgres";
  const url = await urlOf(engine);
  const schema = `crash_${randomBytes(6).toString("hex")}`;
  const directory = mkdtempSync(join(tmpdir(), "crash-hub-"));
  const places = Array.from({ length: isShared ? 3 : 1 }, (_, index) =>
    hubPlace({ state: join(directory, `hub${index}`) }),
  );
  const states = places.map((place) => place.directory);

  const startHub = (index) => start("hub", [states[index], schema], url);
  const startAgent = (index) => start("agent", [directory, `agent${index}`, ...states], url);

  const hubs = await Promise.all(places.map((_, index) => startHub(index)));
  const agents = await Promise.all(Array.from({ length: isShared ? 2 : 1 }, (_, index) => startAgent(index)));
  const humans = new Humans({ places, random });
  await humans.open();

  const killed = { hub: 0, agent: 0 };
  let leftAlone = [];
  try {
    for (let round = 0; round < kills; round++) {
      await sleep(random.next() * 60);
      const [kind, all, again] = random.chance(isShared ? 0.7 : 0.5)
        ? ["hub", hubs, startHub]
        : ["agent", agents, startAgent];
      const index = random.between(0, all.length - 1);
      await kill(all[index]);
      killed[kind]++;
      all[index] = await again(index);
    }
    await sleep(500);
    // The last question stays without an answer.
    humans.stop();
    await sleep(1000);
    leftAlone = await humans.pending();
    for (const agent of agents) await kill(agent);
    // What is written until then is what every page must see: the hubs write what agents have reported for a moment longer.
    await sleep(500);
    const stores = await openHubStores({ directory: states[0], url, schema });
    const rows = isShared ? await everyRow(stores.timeline) : [];
    await stores.close();
    await humans.seen(Math.max(0, ...rows.map(({ seq }) => seq)));
  } finally {
    await humans.close();
    for (const process of [...agents, ...hubs]) await kill(process);
  }

  // The hubs are started once more, as after a crash: what they find is what counts.
  if (isShared) await sleep(1500);
  for (const index of hubs.keys()) await kill(await startHub(index));
  const stores = await openHubStores({ directory: states[0], url, schema });
  const { acknowledged, pages } = humans;
  const found = await check({ ...stores, directory, acknowledged, leftAlone, pages });
  await stores.close();
  const problems = [...humans.problems, ...found.problems].slice(0, 20);
  must(problems.length === 0, `the state is in ${directory} ${schema}:\n${problems.join("\n")}`);
  rmSync(directory, { recursive: true, force: true });
  return {
    ...{ kills: killed.hub + killed.agent, hubs: killed.hub, agents: killed.agent },
    ...{ approvals: found.approvals, effects: found.effects },
  };
};
