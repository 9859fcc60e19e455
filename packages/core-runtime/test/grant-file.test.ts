import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { addGrants, type CoreGrant, createFileGrants, RecordFileError, removeGrants } from "../src/index.ts";
import { CoreGrantSchema } from "../src/permissions/grant.ts";
import { connected, coreOf, echoTool } from "./support/scripted-agent.ts";

const setUp = async () => {
  const directory = await mkdtemp(join(tmpdir(), "hk-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { directory, path: join(directory, "grants.json") };
};

const request = (agent_id: string, permissions: readonly string[] = ["side_effects"]) => ({
  agent_id,
  permissions,
  granted_by: "ada",
});

const grant: CoreGrant = {
  id: "grant_1",
  agent_id: "demo.agent",
  permission: "side_effects",
  granted_at: "2026-01-01T00:00:00.000Z",
  granted_by: "ada",
};
const fileOf = (...grants: unknown[]) => JSON.stringify({ version: 1, grants });

/** What a core with this file says to a call that needs a grant. */
const callWith = async (path: string) => {
  const core = coreOf({ grants: createFileGrants({ path }) });
  const { agent } = await connected(core, {
    tools: [echoTool(), echoTool("demo.agent", "read", { side_effects: false })],
  });
  agent.answer();
  return async (tool = "echo") => {
    const result = await core.call(`demo.agent/${tool}`, { text: "" }).result;
    return result.status === "succeeded" ? "allowed" : `${result.error.code}: ${result.error.message}`;
  };
};

const failureOf = async (path: string): Promise<RecordFileError> => {
  const failure = await (async () => createFileGrants({ path }).list())().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!RecordFileError.isInstance(failure)) throw new TypeError(`no RecordFileError: ${failure}`);
  return failure;
};

describe("a file of grants", () => {
  it("is private, sorted, and says who granted what when", async () => {
    const { directory, path } = await setUp();
    const deep = join(directory, "state", "grants.json");
    const store = createFileGrants({ path: deep });
    expect(await store.list()).toEqual([]);
    await addGrants(store, request("b.agent"));
    await addGrants(store, { ...request("a.agent", ["net", "fs.write"]), tools: ["x"] });
    const text = await readFile(deep, "utf8");
    const { version, grants } = JSON.parse(text) as { version: number; grants: CoreGrant[] };
    expect(version).toBe(1);
    expect(grants.map(({ agent_id, permission }) => `${agent_id} ${permission}`)).toEqual([
      "a.agent fs.write",
      "a.agent net",
      "b.agent side_effects",
    ]);
    for (const each of grants) expect(CoreGrantSchema.parse(each)).toEqual(each);
    expect(grants[0]).toMatchObject({
      granted_by: "ada",
      granted_at: expect.stringMatching(/Z$/),
      tools: ["x"],
    });
    expect((await stat(deep)).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, "state"))).mode & 0o777).toBe(0o700);
    await addGrants(store, { ...request("a.agent", ["net"]), tools: ["x"] });
    expect(await store.list()).toHaveLength(3);
    expect(path).not.toBe(deep);
  });

  it("is seen by a running core as it is, in each state that another process leaves it", async () => {
    const { path } = await setUp();
    const call = await callWith(path);
    const other = createFileGrants({ path });
    for (let round = 0; round < 20; round++) {
      expect(await call()).toMatch(/^tool\.forbidden: /);
      await addGrants(other, request("demo.agent"));
      expect(await call()).toBe("allowed");
      expect(await call()).toBe("allowed");
      await removeGrants(other, () => true);
    }
    await writeFile(path, fileOf(grant), { mode: 0o600 });
    await expect.poll(call).toBe("allowed");
    await rm(path);
    await expect.poll(call).toMatch(/^tool\.forbidden: /);
  });

  it.each<[string, string, string]>([
    ["no JSON", "{", ""],
    ["an unknown field", JSON.stringify({ version: 1, grants: [], grant: [] }), ""],
    ["grants of its prototype", '{"version":1,"__proto__":{"grants":[]}}', "grants"],
    ["a misspelt limit", fileOf(grant, { ...grant, tool: ["x"] }), "grants.1"],
    ["a prototype in a grant", fileOf(grant).replace('"id"', '"__proto__":{"tools":["x"]},"id"'), "grants.0"],
    ["a wrong time", fileOf({ ...grant, until: "never" }), "grants.0.until"],
    ["null for what is left out", fileOf({ ...grant, until: null }), "grants.0.until"],
    [
      "a name that looks like another",
      fileOf({ ...grant, permission: "fs.re\u0430d" }),
      "grants.0.permission",
    ],
    [
      "a caller with more",
      fileOf({ ...grant, caller: { type: "human", id: "a", or: "b" } }),
      "grants.0.caller",
    ],
  ])("with %s grants nothing, and the error names the place", async (_what, text, place) => {
    const { path } = await setUp();
    await writeFile(path, text, { mode: 0o600 });
    const failure = await failureOf(path);
    expect(failure).toMatchObject({ code: "record_file_invalid", place });
    expect(failure.message).toContain(path);
    const call = await callWith(path);
    const named = place === "" ? "" : ` at ${place}`;
    expect(await call()).toBe(
      `tool.forbidden: the grants cannot be read, so nothing is granted (record_file_invalid${named})`,
    );
    expect(await call("read")).toBe("allowed");
    await expect(addGrants(createFileGrants({ path }), request("demo.agent"))).rejects.toMatchObject({
      code: "record_file_invalid",
    });
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it.each<[string, (path: string) => unknown, string]>([
    [
      "a link",
      (path) => writeFile(`${path}.real`, fileOf(grant)).then(() => symlink(`${path}.real`, path)),
      "record_file_unsafe",
    ],
    ["a FIFO", (path) => execFileSync("mkfifo", [path]), "record_file_unsafe"],
    [
      "a file that others can write",
      (path) => writeFile(path, fileOf(grant)).then(() => chmod(path, 0o666)),
      "record_file_unsafe",
    ],
    [
      "a huge file",
      (path) => writeFile(path, "").then(() => truncate(path, 2 ** 40)),
      "record_file_too_large",
    ],
    [
      "too many grants",
      (path) => writeFile(path, fileOf(...Array.from({ length: 4097 }, () => grant))),
      "record_file_too_large",
    ],
    [
      "a file in a directory that others can write",
      (path) => chmod(join(path, ".."), 0o777),
      "record_file_unsafe",
    ],
  ])("that is %s grants nothing", async (_what, make, code) => {
    const { path } = await setUp();
    await make(path);
    expect((await failureOf(path)).code).toBe(code);
    const call = await callWith(path);
    expect(await call()).toContain(`nothing is granted (${code}`);
    expect(await call("read")).toBe("allowed");
    await expect(addGrants(createFileGrants({ path }), request("demo.agent"))).rejects.toMatchObject({
      code,
    });
  });

  it("is cleared of what a writer left that was killed, by the next change", async () => {
    const { directory, path } = await setUp();
    await writeFile(`${path}.tmp_0123456789abcdef`, "half");
    await writeFile(`${path}.tmp_mine`, "not ours");
    await writeFile(join(directory, "other.json.tmp_0123456789abcdef"), "of another file");
    await addGrants(createFileGrants({ path }), request("demo.agent"));
    expect((await readdir(directory)).sort()).toEqual([
      "grants.json",
      "grants.json.tmp_mine",
      "other.json.tmp_0123456789abcdef",
    ]);
  });
});
