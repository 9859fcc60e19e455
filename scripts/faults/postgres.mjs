// Has PostgreSQL fail under three workers, and compares what is stored with what their clients know.
// node scripts/faults/postgres.mjs [--only restart,cut,pool,connections,disk] [--seconds N] [--seed N]
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Random } from "../crash/random.mjs";
import { isBuilt } from "../crash/workers/built.mjs";
import { startPostgres } from "../crash/workers/postgres.mjs";
import { WorkersStory } from "../crash/workers/story.mjs";
import { option } from "../lib/report.mjs";
import { repositoryRoot } from "../lib/root.mjs";

const driver = createRequire(join(repositoryRoot, "packages/store-postgres/package.json")).resolve("pg");
const { default: pg } = await import(pathToFileURL(driver).href);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Connections of the fault, which may be lost with everything else. */
const connect = async (url) => {
  const client = new pg.Client({ connectionString: url, application_name: "faults" });
  client.on("error", () => {});
  await client.connect();
  return client;
};

/** Calls `inflict` again and again until the time is over; returns how often. */
const repeat = async (seconds, everyMs, inflict) => {
  const untilMs = Date.now() + seconds * 1000;
  let count = 0;
  while (Date.now() < untilMs) {
    await pause(everyMs);
    count += (await inflict().catch(() => 0)) ?? 1;
  }
  return count;
};

const faults = {
  /** The server ends as by a crash, and recovers. */
  restart: { inflict: ({ server, seconds }) => repeat(seconds, 1500, () => server.restart().then(() => 1)) },
  /** Connections are cut, in the middle of a transaction where one is open. */
  cut: {
    async inflict({ server, seconds }) {
      const client = await connect(server.url);
      const cut = async () => {
        const { rows } = await client.query(
          `SELECT pg_terminate_backend(pid), xact_start IS NOT NULL AS is_open FROM pg_stat_activity
           WHERE application_name = 'harnesskit' AND random() < 0.3`,
        );
        return rows.length;
      };
      const count = await repeat(seconds, 100, cut);
      await client.end().catch(() => {});
      return count;
    },
  },
  /** Each worker has one connection for everything. */
  pool: { maxConnections: 1, inflict: ({ seconds }) => pause(seconds * 1000).then(() => 1) },
  /** Others take all connections of the server. */
  connections: {
    inflict: ({ server, seconds }) =>
      repeat(seconds, 1500, async () => {
        const taken = [];
        for (let index = 0; index < 320; index++) {
          const client = await connect(server.url).catch(() => undefined);
          if (client === undefined) break;
          taken.push(client);
        }
        await pause(1000);
        await Promise.all(taken.map((client) => client.end().catch(() => {})));
        return 1;
      }),
  },
  /** The disk of the server is full, and has room again. Needs root, for a file system of its own. */
  disk: {
    needsRoot: true,
    inflict: ({ server, seconds }) =>
      repeat(seconds, 1500, async () => {
        const path = join(server.directory, "..", "full");
        const { bavail, bsize } = statfsSync(server.directory);
        writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize)));
        await pause(1500);
        rmSync(path, { force: true });
        return 1;
      }),
  },
};

const only = option("only", Object.keys(faults).join(",")).split(",");
const seconds = Number(option("seconds", "20"));
const seed = Number(option("seed", "1"));
if (!only.every((name) => Object.hasOwn(faults, name)) || !(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write(
    `faults: --only is of ${Object.keys(faults).join(", ")}; --seconds and --seed are numbers\n`,
  );
  process.exit(2);
}
if (!isBuilt()) {
  process.stderr.write("faults: the packages are not built: npm run build\n");
  process.exit(2);
}

/** A file system of 300 MB, for a server whose disk can be filled. */
const mountDisk = () => {
  const directory = mkdtempSync(join(tmpdir(), "harness-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=300m,mode=755", "tmpfs", directory]);
  mkdirSync(join(directory, "tmp"), { mode: 0o755 });
  return {
    path: join(directory, "tmp"),
    remove() {
      execFileSync("umount", [directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

for (const name of only) {
  const { inflict, maxConnections, needsRoot = false } = faults[name];
  if (needsRoot && process.getuid?.() !== 0) {
    process.stdout.write(`${name}: left out, it needs root\n`);
    continue;
  }
  const disk = needsRoot ? mountDisk() : undefined;
  const server = await startPostgres(disk?.path);
  let inflicted = 0;
  try {
    const random = new Random(seed);
    const story = new WorkersStory({ random, engine: "postgres", url: server.url, maxConnections });
    const figures = await story.tell(0, async () => {
      inflicted = await inflict({ server, seconds });
    });
    const text = Object.entries(figures).map(([figure, value]) => `${figure}: ${value}`);
    process.stdout.write(
      `${name}: inflicted ${inflicted}, ${text.join(", ")}, violations: 0 (seed ${seed})\n`,
    );
  } catch (error) {
    process.exitCode = 1;
    const text = error?.name === "Violation" ? error.message : error?.stack;
    process.stdout.write(`VIOLATION (${name}, inflicted ${inflicted}, seed ${seed}): ${text}\n`);
  } finally {
    await server.stop();
    disk?.remove();
  }
}
