import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { repositoryRoot } from "../../lib/root.mjs";
import { bundleOf } from "../bundle.mjs";
import { must } from "../violation.mjs";
import { postgresUrl } from "../workers/postgres.mjs";

const program = new URL("life.mjs", import.meta.url);
/** Steps until a process dies, at most: several approvals. */
const maxSteps = 30;

/** True when all that the processes are made of is there. */
export const isBuilt = () =>
  ["store-sqlite", "store-postgres"].every((name) =>
    existsSync(join(repositoryRoot, "packages", name, "dist/index.js")),
  );

/** Runs one process until it has died; what was acknowledged is noted. */
const live = async ({ place, random, name, acknowledged }) => {
  const from = acknowledged.reduce((last, { number = 0 }) => Math.max(last, number), 0);
  const armed = { after: random.between(1, maxSteps), isBefore: random.pick([true, false, "middle"]) };
  const args = [await bundleOf(program), JSON.stringify(place), JSON.stringify(armed), name, String(from)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => acknowledged.push(JSON.parse(line)));
  const [code, signal] = await once(child, "close");
  must(signal === "SIGKILL", `a process ended by itself (${code ?? signal})`);
};

/** Compares what is stored with what was acknowledged, and with the effects. */
const check = async (store, acknowledged, effects) => {
  const done = acknowledged.filter(({ code }) => code === undefined);
  const of = (op) => done.filter((each) => each.op === op);
  const failures = acknowledged.filter(
    ({ code }) => code !== undefined && !/^already_|^not_claimant|^ambiguous/.test(code),
  );
  must(failures.length === 0, `writes failed: ${JSON.stringify(failures.slice(0, 3))}`);
  const ids = new Set(acknowledged.flatMap(({ id }) => (id === undefined ? [] : [id])));
  const seqs = new Set();
  for (const id of ids) {
    const record = await store.get(id);
    must(record !== undefined, `${id} was asked and is not there`);
    must(!seqs.has(record.seq), `two records have the number ${record.seq}`);
    seqs.add(record.seq);
    const answers = of("answer").filter((each) => each.id === id);
    must(answers.length <= 1, `${id} was answered ${answers.length} times`);
    if (answers.length === 1) must(record.answer?.by === answers[0].name, `the answer of ${id} is another's`);
    const takes = of("take").filter((each) => each.id === id);
    must(takes.length <= 1, `${id} was claimed ${takes.length} times`);
    if (takes.length === 1) must(record.taken?.by === takes[0].claimant, `the claim of ${id} is another's`);
    const happened = effects.filter((line) => line.startsWith(`${id} `));
    must(happened.length <= 1, `${id} has ${happened.length} effects`);
    if (happened.length === 1) must(happened[0] === `${id} ${record.taken?.by}`, `${id} was done by another`);
    const reports = of("report").filter((each) => each.id === id);
    if (reports.length > 0) must(record.effect === "done", `${id} was reported and is ${record.effect}`);
    if (record.effect === "done") must(happened.length === 1, `${id} says done and has no effect`);
  }
  return ids.size;
};

/** Three processes of one store that die at their writes. Rejects with a violation. */
export const tellApprovalStory = (engine) => async (random, deaths) => {
  const { openApprovals } = await import("./stores.mjs");
  const directory = mkdtempSync(join(tmpdir(), "crash-approvals-"));
  const url = engine === "postgres" ? await postgresUrl() : undefined;
  const place = { directory, ...(url && { url, schema: `crash_${randomBytes(6).toString("hex")}` }) };
  const acknowledged = [];
  const opened = await openApprovals(place);
  try {
    let left = deaths;
    const lane = async (name) => {
      while (left-- > 0) await live({ place, random, name, acknowledged });
    };
    await Promise.all(["ada", "bob", "eve"].map(lane));
    const file = join(directory, "effects");
    const effects = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
    const approvals = await check(opened.store, acknowledged, effects);
    return { kills: deaths, approvals, acknowledged: acknowledged.length, effects: effects.length };
  } finally {
    await opened.close();
    rmSync(directory, { recursive: true, force: true });
  }
};
