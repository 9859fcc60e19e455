import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isNightly } from "../../test-kit/nightly.ts";
import { needPython } from "../../test-kit/python.ts";
import { temporaryDirectory } from "../../test-kit/test-kit.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { readChanges } from "./changes/read-changes.ts";
import { unmetIds } from "./support.ts";

const peer = (name: string): string => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));

/** One line of the peer for another one: what the proxy of `changes/threads-server.yaml` cannot do. */
const faults = [
  ["THR-2", "server.load()", 'server.load(); print("the server is up")'],
  ["THR-40", "events.jsonl", "log.jsonl"],
  ["THR-41", "meta.json", "about.json"],
  ["THR-58", "os._exit(0)", "os._exit(3)"],
  ["THR-59", "if line.strip():", "if line.strip() and b'\"id\":1,' not in line:"],
] as const;

it("names a line for each check that the proxy cannot fail", () => {
  expect(faults.map(([id]) => id).toSorted()).toEqual(
    Object.keys(readChanges("threads-server").unseen).toSorted(),
  );
});

/** One of them; nightly all. */
const tried = isNightly ? faults : faults.slice(-1);

it.for(tried)("%s does not hold where %s is %s", async ([id, right, wrong], context) => {
  needPython(context);
  await using folder = await temporaryDirectory();
  const source = await readFile(peer("thread_server.py"), "utf8");
  expect(source).toContain(right);
  await writeFile(join(folder.path, "thread_server.py"), source.replaceAll(right, wrong));
  await copyFile(peer("thread_parts.py"), join(folder.path, "thread_parts.py"));
  const command = `exec python3 -SBu '${join(folder.path, "thread_server.py")}'`;
  const report = await runSuite({
    suite: loadSuite("threads-server"),
    target: { kind: "command", command, transport: "stdio" },
    only: [id],
  });
  expect(unmetIds(report)).toContain(id);
});
