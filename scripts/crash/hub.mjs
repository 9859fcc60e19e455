// Kills the hub, its agent and the browser whose page answers at any moment between a question and its effect, and checks what is left:
// every answered approval has at most one effect, no effect is without an approval, nothing acknowledged is lost,
// and what was not answered is still pending. Without a browser on the machine only the other two are killed.
// Usage: npm run crash -- --only hub, or node scripts/crash/hub.mjs [--kills 1000] [--seed 1]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createHubClient, HubError } from "../../packages/hub/dist/client.js";
import { hubPlace } from "../../packages/hub/dist/place.js";
import { openApprovalStore, openTimelineStore } from "../../packages/store-sqlite/dist/index.js";
import { createUnixTransport } from "../../packages/transport-uds/dist/index.js";
import { hasBrowser, startBrowser } from "./hub/browser.mjs";
import { Random } from "./random.mjs";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } },
});
const kills = Number(values.kills);
const numbers = new Random(Number(values.seed));
const random = () => numbers.next();

const directory = mkdtempSync(join(tmpdir(), "crash-hub-"));
const place = hubPlace({ state: join(directory, "hub") });
/** A port that stays: the page finds the hub again. */
const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return String(port);
};
const port = await freePort();
const life = (name) => new URL(`./hub/${name}-life.mjs`, import.meta.url).pathname;
const start = async (name) => {
  const child = spawn(process.execPath, [life(name), place.directory, directory, port], {
    // Its input ends with this process, however that ends.
    stdio: ["pipe", "pipe", "inherit"],
  });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (child.exitCode !== null) throw new Error(`the ${name} ended with ${child.exitCode}`);
  return child;
};
const kill = async (child) => {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

/** Answers that the hub has acknowledged, by approval. */
const acknowledged = new Map();
/** Approvals that are left alone: they must be pending at the end. */
const leftAlone = new Set();
const problems = [];
let hub = await start("hub");
let agent = await start("agent");
const onAcknowledged = ({ id, status }) => acknowledged.set(id, status);
const openBrowser = () => startBrowser({ place, random, onAcknowledged });
/** Undefined while it is being started. */
let browser;
let opening = Promise.resolve();
const reopen = () => {
  browser = undefined;
  opening = openBrowser().then((opened) => {
    browser = opened;
  });
};
if (hasBrowser) reopen();
const stop = new AbortController();

const client = createHubClient({
  transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
  client: { name: "crash" },
  // A machine that is busy with starts of processes is slow.
  requestTimeoutMs: 60_000,
  reconnect: { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: 10, maxDelayMs: 50 },
});
await client.connect({ retry: true });

const answer = async ({ id, digest }) => {
  const decision = random() < 0.8 ? "approve" : "reject";
  // Some questions are left to the page for a while.
  await sleep(hasBrowser && random() < 0.3 ? 1500 : random() * 15);
  for (let attempt = 0; attempt < 50 && !stop.signal.aborted; attempt++) {
    try {
      const { record } = await client.call("inbox.answer", { id, digest, decision });
      acknowledged.set(id, record.status);
      return;
    } catch (error) {
      // An answer whose acknowledgement was lost may have counted.
      if (HubError.isInstance(error)) return;
      await sleep(10);
    }
  }
};

const answering = (async () => {
  const seen = new Set();
  for await (const record of client.watchInbox({ afterSeq: 0, signal: stop.signal })) {
    if (record.status !== "pending" || seen.has(record.id)) continue;
    seen.add(record.id);
    void answer(record);
  }
})();

const startedMs = Date.now();
const killed = { hub: 0, agent: 0, browser: 0 };
try {
  for (let round = 0; round < kills; round++) {
    // Some waits are long enough for a human's click.
    await sleep(random() * (random() < 0.1 ? 2000 : 60));
    if (browser !== undefined && random() < 0.2) {
      const dying = browser;
      await dying.kill();
      killed.browser++;
      reopen();
    } else if (random() < 0.5) {
      await kill(hub);
      killed.hub++;
      hub = await start("hub");
    } else {
      await kill(agent);
      killed.agent++;
      agent = await start("agent");
    }
    if (round % 100 === 99)
      console.log(`${round + 1} kills, ${acknowledged.size} answers, ${Date.now() - startedMs} ms`);
  }
  await sleep(500);
  await opening;
  await browser?.kill();
  // The last question stays without an answer.
  stop.abort();
  await answering;
  await sleep(1000);
  const { records } = await client.call("inbox.list", { status: "pending" });
  for (const { id } of records) leftAlone.add(id);
} finally {
  await opening.catch(() => {});
  await browser?.kill();
  await client.close();
  await kill(agent);
  await kill(hub);
}

// The hub is started once more, as after a crash, and ended in order: what it finds is what counts.
hub = await start("hub");
await kill(hub);
const store = await openApprovalStore({ file: join(place.directory, "approvals.db") });
const timeline = await openTimelineStore({ file: join(place.directory, "timeline.db") });
const records = new Map();
for (let afterSeq = 0; ; ) {
  const page = await store.page({ afterSeq });
  for (const record of page.records) records.set(record.id, record);
  if (page.records.length === 0) break;
  afterSeq = page.nextSeq;
}
const effects = new Map();
const effectsFile = join(directory, "effects");
const lines = existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trim().split("\n") : [];
for (const line of lines.filter(Boolean)) {
  const [, id] = line.split(" ");
  effects.set(id, (effects.get(id) ?? 0) + 1);
}
for (const [id, count] of effects) {
  const record = records.get(id);
  if (count > 1) problems.push(`${id} has ${count} effects`);
  if (record?.status !== "approved") problems.push(`${id} has an effect and is ${record?.status}`);
  if (record?.effect === "none" || record?.effect === "failed")
    problems.push(`${id} has an effect and says ${record.effect}`);
}
for (const [id, status] of acknowledged) {
  if (records.get(id)?.status !== status)
    problems.push(`${id} was acknowledged as ${status} and is ${records.get(id)?.status}`);
}
for (const id of leftAlone) {
  if (records.get(id)?.status !== "pending")
    problems.push(`${id} was pending and is ${records.get(id)?.status}`);
}
const counts = {};
let answeredInPage = 0;
for (const { id, status, effect, answer: given } of records.values()) {
  if (given?.by.includes("(page")) answeredInPage++;
  const name = `${status}/${effect}`;
  counts[name] = (counts[name] ?? 0) + 1;
  if (effect === "done" && effects.get(id) !== 1)
    problems.push(`${id} says done and has ${effects.get(id) ?? 0} effects`);
}
let running = 0;
for (let beforeId; ; ) {
  const page = await timeline.page({ limit: 200, ...(beforeId && { beforeId }) });
  for (const { approval, state } of page.rows) {
    if (approval === undefined) continue;
    if (state === "running") running++;
    if (state === "done" && effects.get(approval.id) !== 1)
      problems.push(`the row of ${approval.id} says done`);
  }
  beforeId = page.nextBeforeId;
  if (beforeId === undefined) break;
}
if (running > 0) problems.push(`${running} rows say running after the hub was restarted`);
await store.close();
await timeline.close();
console.log(
  `killed: hub ${killed.hub}, agent ${killed.agent}, browser ${killed.browser}; approvals ${records.size}, answers acknowledged ${acknowledged.size}, in the page ${answeredInPage}, effects ${lines.length}`,
);
console.log(`states: ${JSON.stringify(counts)}; pending and left alone: ${leftAlone.size}`);
if (problems.length > 0) {
  console.error(
    `${problems.length} problems, the state is in ${directory}:\n${problems.slice(0, 20).join("\n")}`,
  );
  process.exitCode = 1;
} else {
  console.log("no problem found");
  rmSync(directory, { recursive: true, force: true });
}
