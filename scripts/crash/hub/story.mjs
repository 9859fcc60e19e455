// Kills hubs, their agents and the browser whose page answers at any moment between a question and its effect, and checks what is left:
// every answered approval has at most one effect, no effect is without an approval, nothing acknowledged is lost,
// what was not answered is still pending, what was pressed in the page has counted or was too late, and pages have seen every change. One hub with files, or three that share a database.
// Without a browser on the machine only the others are killed.
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
import { hasBrowser, startBrowser, unsentAnswers } from "./browser.mjs";
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

/** Tells of hubs, agents and the browser that die. Rejects with a `Violation`. */
export const hubStory = (engine) => async (random, kills) => {
  const isShared = engine === "postgres";
  const url = await urlOf(engine);
  const schema = `crash_${randomBytes(6).toString("hex")}`;
  const directory = mkdtempSync(join(tmpdir(), "crash-hub-"));
  const places = Array.from({ length: isShared ? 3 : 1 }, (_, index) =>
    hubPlace({ state: join(directory, `hub${index}`) }),
  );
  const states = places.map((place) => place.directory);
  const profile = join(directory, "browser");

  const startHub = (index) => start("hub", [states[index], schema], url);
  const startAgent = (index) => start("agent", [directory, `agent${index}`, ...states], url);

  const hubs = await Promise.all(places.map((_, index) => startHub(index)));
  const agents = await Promise.all(Array.from({ length: isShared ? 2 : 1 }, (_, index) => startAgent(index)));
  const humans = new Humans({ places, random, waitsForPage: hasBrowser });
  await humans.open();

  /** The browser at the first hub; undefined while it is being started. */
  let browser;
  let opening = Promise.resolve();
  const reopen = () => {
    browser = undefined;
    opening = startBrowser({
      place: places[0],
      profile,
      random: () => random.next(),
      onPressed: (id) => humans.pressed.add(id),
      onAcknowledged: (record) => humans.noteAcknowledged(record),
    }).then((opened) => {
      browser = opened;
    });
    opening.catch(() => {});
  };
  if (hasBrowser) reopen();

  const killed = { hub: 0, agent: 0, browser: 0 };
  let leftAlone = [];
  const killBrowser = async () => {
    await browser.kill();
    killed.browser++;
    reopen();
  };
  try {
    for (let round = 0; round < kills; round++) {
      // Most waits are long enough for a click.
      await sleep(random.next() * (hasBrowser && random.chance(0.6) ? 2500 : 60));
      if (browser !== undefined && random.chance(0.25)) {
        await killBrowser();
        continue;
      }
      const [kind, all, again] = random.chance(isShared ? 0.7 : 0.5)
        ? ["hub", hubs, startHub]
        : ["agent", agents, startAgent];
      const index = random.between(0, all.length - 1);
      await kill(all[index]);
      killed[kind]++;
      // What is pressed while the hub is away is kept by the page, also over the end of the browser.
      if (kind === "hub" && browser !== undefined && random.chance(0.3)) {
        await sleep(random.next() * 2000);
        // As many die as were asked for.
        if (random.chance(0.5) && round + 1 < kills) {
          await killBrowser();
          round++;
        }
      }
      all[index] = await again(index);
    }
    await sleep(500);
    await opening;
    await sleep(browser === undefined ? 0 : 3000);
    await browser?.kill();
    const unsent = hasBrowser ? await unsentAnswers({ place: places[0], profile }) : [];
    humans.problems.push(...unsent.map((key) => `${key} was never sent`));
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
    await opening.catch(() => {});
    await browser?.kill();
    await humans.close();
    for (const process of [...agents, ...hubs]) await kill(process);
  }

  // The hubs are started once more, as after a crash: what they find is what counts.
  if (isShared) await sleep(1500);
  for (const index of hubs.keys()) await kill(await startHub(index));
  const stores = await openHubStores({ directory: states[0], url, schema });
  const { acknowledged, pressed, pages } = humans;
  const found = await check({ ...stores, directory, acknowledged, pressed, leftAlone, pages });
  await stores.close();
  const problems = [...humans.problems, ...found.problems].slice(0, 20);
  must(problems.length === 0, `the state is in ${directory} ${schema}:\n${problems.join("\n")}`);
  rmSync(directory, { recursive: true, force: true });
  return {
    kills: killed.hub + killed.agent + killed.browser,
    ...{ hubs: killed.hub, agents: killed.agent, browsers: killed.browser, approvals: found.approvals },
    ...{ "answered in the page": found.inPage, effects: found.effects },
  };
};
