import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { findHost, hosts } from "@harnesskit/agent-hooks";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { settingsPath } from "../src/settings/agent-places.ts";
import { isHookCommand } from "../src/settings/hook-command.ts";
import {
  applyChange,
  createInstallRecords,
  findAgents,
  planInstallation,
  planRemoval,
  programOf,
  readHookState,
  type SettingsScope,
  toHookCommand,
} from "../src/settings/index.ts";
import type { ChangeContext } from "../src/settings/plan-change.ts";
import { makeDirectory } from "./support/hooks.ts";

interface Machine extends ChangeContext {
  readonly directory: string;
}

/** A home, a project and a state of their own. */
const makeMachine = async (): Promise<Machine> => {
  const directory = await makeDirectory();
  const [home, project] = [join(directory, "home"), join(directory, "project")];
  await Promise.all([mkdir(home), mkdir(project)]);
  return {
    directory,
    places: { home, project, env: { PATH: join(directory, "bin") } },
    records: createInstallRecords(join(directory, "state")),
  };
};

const commandOf = (host: string, path = "/opt/harness/guard-hook.cjs"): string =>
  toHookCommand({ program: ["/usr/bin/node", path], host, timeoutMs: 3_600_000 });

const install = async (
  machine: Machine,
  hostId: string,
  { scope = "user", command = commandOf(hostId) }: { scope?: SettingsScope; command?: string } = {},
) => {
  const state = await readHookState(findHost(hostId), scope, machine);
  const change = await planInstallation(state, { command, timeoutMs: 3_600_000 }, machine);
  if (change) await applyChange(change, machine, Date.now());
  return change;
};

const remove = async (machine: Machine, hostId: string, scope: SettingsScope = "user") => {
  const state = await readHookState(findHost(hostId), scope, machine);
  const change = await planRemoval(state, machine);
  if (change) await applyChange(change, machine, Date.now());
  return change;
};

const put = async (machine: Machine, hostId: string, text: string, scope: SettingsScope = "user") => {
  const path = settingsPath(findHost(hostId), scope, machine.places);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  return path;
};

describe("settings of a host", () => {
  it.each(hosts.map(({ id }) => id))(
    "are made, found, kept and removed with what was made for them: %s",
    async (id) => {
      const machine = await makeMachine();
      for (const scope of ["user", "project"] as const) {
        await install(machine, id, { scope });
        const { commands, file } = await readHookState(findHost(id), scope, machine);
        expect(commands).toEqual([commandOf(id)]);
        expect((await stat(file.path)).mode & 0o777).toBe(0o600);
        expect(await install(machine, id, { scope })).toBeUndefined();
        await remove(machine, id, scope);
        expect(await remove(machine, id, scope)).toBeUndefined();
      }
      expect(await readdir(machine.places.home)).toEqual([]);
      expect(await readdir(machine.places.project)).toEqual([]);
    },
  );

  it("are restored to the byte, whatever was in them", async () => {
    const machine = await makeMachine();
    const json = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom(0, 1, 2, 4), async (value, indent) => {
        const { hooks: _hooks, disableAllHooks: _off, ...others } = value;
        const text = JSON.stringify(others, null, indent);
        const path = await put(machine, "claude-code", text);
        await install(machine, "claude-code");
        const after = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
        const { hooks, ...rest } = after;
        expect(hooks).toBeDefined();
        expect(rest).toEqual(JSON.parse(text));
        await remove(machine, "claude-code");
        expect(await readFile(path, "utf8")).toBe(text);
      }),
      { numRuns: runs(8) },
    );
  });

  it("that were edited since lose only our hooks, and a backup of each text is kept", async () => {
    const machine = await makeMachine();
    const path = await put(
      machine,
      "codex",
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}',
    );
    await install(machine, "codex");
    const edited = (await readFile(path, "utf8")).replace("say done", "say over");
    await writeFile(path, edited);
    await remove(machine, "codex");
    expect(await readFile(path, "utf8")).toBe(
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say over"}]}]}}',
    );
    const backups = await readdir(join(machine.directory, "state", "backups"));
    const texts = await Promise.all(
      backups.map((name) => readFile(join(machine.directory, "state", "backups", name), "utf8")),
    );
    expect(texts).toContain(edited);
    expect((await stat(join(machine.directory, "state"))).mode & 0o777).toBe(0o700);
  });

  it("get another command in place of the one before, and are still restored to the byte", async () => {
    const machine = await makeMachine();
    const text = '{\n  "model": "opus"\n}\n';
    const path = await put(machine, "claude-code", text);
    await install(machine, "claude-code");
    const command = commandOf("claude-code", "/other place/guard-hook.cjs");
    await install(machine, "claude-code", { command });
    const { commands } = await readHookState(findHost("claude-code"), "user", machine);
    expect(commands).toEqual([command]);
    await remove(machine, "claude-code");
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("are found and cleared by their commands where the record is lost", async () => {
    const machine = await makeMachine();
    const text = '{"a":1}';
    const path = await put(machine, "codex", text);
    await install(machine, "codex");
    await rm(join(machine.directory, "state"), { recursive: true });
    await remove(machine, "codex");
    expect(await readFile(path, "utf8")).toBe(text);
    await mkdir(join(machine.directory, "state"), { recursive: true });
    await writeFile(join(machine.directory, "state", "installed.json"), "{");
    await expect(install(machine, "codex")).rejects.toMatchObject({ code: "records_unreadable" });
  });

  it("of a user are written through a link, and those of a project are not", async () => {
    const machine = await makeMachine();
    const dotfiles = join(machine.directory, "dotfiles.json");
    await writeFile(dotfiles, "{}");
    const path = await put(machine, "claude-code", "{}");
    await rm(path);
    await symlink(dotfiles, path);
    await install(machine, "claude-code");
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await readFile(dotfiles, "utf8")).toContain("PreToolUse");
    await remove(machine, "claude-code");
    expect(await readFile(dotfiles, "utf8")).toBe("{}");

    await symlink(machine.directory, join(machine.places.project, ".codex"));
    await expect(install(machine, "codex", { scope: "project" })).rejects.toMatchObject({
      name: "SettingsError",
      code: "settings_link",
    });
    await rm(dotfiles);
    await expect(install(machine, "claude-code")).rejects.toMatchObject({ code: "settings_link" });
  });

  it("that are closed, no file, too large or not UTF-8 are left as they are", async () => {
    const machine = await makeMachine();
    const path = await put(machine, "codex", "{}");
    await chmod(path, 0o444);
    await expect(install(machine, "codex")).rejects.toMatchObject({ code: "settings_read_only" });
    expect(await readFile(path, "utf8")).toBe("{}");
    await rm(path);
    await mkdir(path);
    await expect(install(machine, "codex")).rejects.toMatchObject({ code: "settings_unreadable" });
    await rename(path, `${path}.directory`);
    await writeFile(path, Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(install(machine, "codex")).rejects.toMatchObject({ code: "settings_unreadable" });
    await writeFile(path, " ".repeat(5 * 1024 * 1024));
    await expect(install(machine, "codex")).rejects.toMatchObject({ code: "settings_unreadable" });
    await writeFile(path, '{"hooks":');
    await expect(install(machine, "codex")).rejects.toMatchObject({
      name: "HookError",
      code: "settings_not_json",
    });
  });

  it("that another program changes meanwhile are not written over", async () => {
    const machine = await makeMachine();
    const path = await put(machine, "codex", "{}");
    const state = await readHookState(findHost("codex"), "user", machine);
    const change = await planInstallation(state, { command: commandOf("codex"), timeoutMs: 1000 }, machine);
    if (!change) throw new TypeError("nothing to change");
    await writeFile(path, '{"b":2}');
    await expect(applyChange(change, machine, 0)).rejects.toMatchObject({ code: "settings_changed" });
    expect(await readFile(path, "utf8")).toBe('{"b":2}');
    // Two commands at one time: one waits for none, and both leave a whole file.
    const again = await planInstallation(
      await readHookState(findHost("codex"), "user", machine),
      { command: commandOf("codex"), timeoutMs: 1000 },
      machine,
    );
    if (!again) throw new TypeError("nothing to change");
    const results = await Promise.allSettled([
      applyChange(again, machine, 0),
      applyChange(again, machine, 0),
    ]);
    const refused = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused).toHaveLength(1);
    expect(["settings_busy", "settings_changed"]).toContain((refused[0] as { code: string }).code);
    expect(await readFile(path, "utf8")).toBe(again.after);
  });
});

describe("the agents of a machine", () => {
  it("are found by their programs and by their directories", async () => {
    const machine = await makeMachine();
    const bin = join(machine.directory, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "codex"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(join(bin, "gemini"), "not a program", { mode: 0o644 });
    await mkdir(join(machine.places.home, ".cursor"));
    const found = await findAgents(machine.places);
    const shown = found
      .filter(({ program, directory }) => program ?? directory)
      .map(({ host, program, directory }) => [host.id, program, directory]);
    expect(shown).toEqual([
      ["codex", join(bin, "codex"), undefined],
      ["cursor", undefined, join(machine.places.home, ".cursor")],
    ]);
  });

  it("have their settings where their own variables say", async () => {
    const { places } = await makeMachine();
    const env = { CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/d", XDG_CONFIG_HOME: "/x" };
    const pathOf = (id: string) => settingsPath(findHost(id), "user", { ...places, env });
    expect(pathOf("codex")).toBe("/c/hooks.json");
    expect(pathOf("claude-code")).toBe("/d/settings.json");
    expect(pathOf("opencode")).toBe("/x/opencode/plugins/harnesskit.js");
    expect(pathOf("copilot-cli")).toBe(join(places.home, ".copilot/hooks/harnesskit.json"));
  });
});

describe("the command of a hook", () => {
  it("is quoted for a shell, and known again", () => {
    const command = toHookCommand({
      program: ["/usr/bin/node", "/it's here/guard-hook.cjs"],
      host: "codex",
      timeoutMs: 1000,
      socket: "/run/my hub/guard.sock",
    });
    expect(command).toBe(
      `/usr/bin/node '/it'\\''s here/guard-hook.cjs' codex --timeout-ms 1000 --socket '/run/my hub/guard.sock'`,
    );
    expect(programOf(command)).toEqual(["/usr/bin/node", "/it's here/guard-hook.cjs"]);
    expect(isHookCommand(command, "codex")).toBe(true);
    expect(isHookCommand(command, "cursor")).toBe(false);
    expect(isHookCommand("harness guard hook codex", "codex")).toBe(true);
    expect(isHookCommand("my-guard hook-codex", "codex")).toBe(false);
    expect(programOf("harness guard hook codex")).toEqual([]);
  });
});
