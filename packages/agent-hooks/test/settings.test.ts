import { HarnessError } from "@harnesskit/wire";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import {
  findHost,
  HookError,
  hookCommands,
  hosts,
  managedSettings,
  planSettings,
  removeSettings,
} from "../src/index.ts";

const options = { command: "harness guard hook" };
const other = { type: "command", command: "other program" };
const jsonHosts = hosts.filter(({ settings }) => settings.kind === "json");

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(HookError);
    return (error as HookError).code;
  }
  throw new Error("did not throw");
};

describe.each(jsonHosts.map((host) => ({ id: host.id, host })))("settings of $id", ({ host }) => {
  const { settings } = host;
  const header = settings.kind === "json" ? settings.header : {};
  const [event = ""] = Object.keys(host.events);

  it("writes a whole file where none is, and takes all of it out again", () => {
    for (const empty of [undefined, "", " \n"]) {
      const text = planSettings(host, empty, options);
      expect(JSON.parse(text)).toMatchObject({ ...header, hooks: { [event]: [expect.anything()] } });
      expect(removeSettings(host, text, options)).toBe("");
    }
  });

  it("restores the text to the byte, whatever is in it and however it is laid out", () => {
    const entry = fc.constantFrom<unknown>(other, { matcher: "x", hooks: [other] }, {});
    const hooks = fc.dictionary(fc.constantFrom(event, "Other", "x.y"), fc.array(entry, { maxLength: 3 }));
    const root = fc.record(
      { hooks, model: fc.jsonValue({ maxDepth: 2 }), "": fc.string() },
      { requiredKeys: [] },
    );
    const layout = fc.constantFrom("", "  ", "\t", "    ");
    fc.assert(
      fc.property(root, layout, fc.boolean(), fc.boolean(), (value, indent, isWindows, hasEnd) => {
        const json = JSON.stringify({ ...header, ...value }, null, indent) + (hasEnd ? "\n" : "");
        const before = isWindows ? json.replaceAll("\n", "\r\n") : json;
        const after = planSettings(host, before, options);
        expect(planSettings(host, after, options)).toBe(after);
        expect(removeSettings(host, after, options)).toBe(before);
        const { hooks: planned, ...rest } = JSON.parse(after);
        const { hooks: given = {}, ...kept } = JSON.parse(before);
        expect(rest).toEqual(kept);
        for (const [name, entries] of Object.entries<unknown[]>(given)) {
          expect(planned[name].slice(planned[name].length - entries.length)).toEqual(entries);
        }
        expect(planned[event]).toHaveLength((given[event]?.length ?? 0) + 1);
      }),
      { numRuns: runs(40) },
    );
  });

  it("replaces what it planned with another time", () => {
    const before = JSON.stringify({ ...header, hooks: { [event]: [other] } }, null, 2);
    const first = planSettings(host, before, { ...options, timeoutMs: 60_000 });
    const second = planSettings(host, first, { ...options, timeoutMs: 120_000 });
    expect(second).not.toBe(first);
    expect(JSON.parse(second).hooks[event]).toHaveLength(2);
    expect(removeSettings(host, second, options)).toBe(before);
  });

  it("refuses a text that it cannot edit, with the reason", () => {
    expect(codeOf(() => planSettings(host, "{", options))).toBe("settings_not_json");
    expect(codeOf(() => planSettings(host, `{"a":1,}`, options))).toBe("settings_not_json");
    expect(codeOf(() => planSettings(host, "[]", options))).toBe("settings_shape");
    expect(codeOf(() => planSettings(host, `{"hooks":[]}`, options))).toBe("settings_shape");
    const wrong = JSON.stringify({ ...header, hooks: { [event]: {} } });
    expect(codeOf(() => planSettings(host, wrong, options))).toBe("settings_shape");
    const twice = JSON.stringify({ ...header, hooks: {} }).replace("}", `},"hooks":{}`);
    expect(codeOf(() => planSettings(host, twice, options))).toBe("settings_shape");
    expect(codeOf(() => planSettings(host, `"${"x".repeat(1_100_000)}"`, options))).toBe(
      "settings_too_large",
    );
    expect(codeOf(() => removeSettings(host, "{", options))).toBe("settings_not_json");
  });

  it("has a text for administrators that contains the command", () => {
    const managed = managedSettings(host, { command: `run "it"` });
    expect(managed?.text).toContain(String.raw`run \"it\"`);
    expect(managed?.place).toMatch(/\S/);
  });
});

it.each(["{}", "{\n}\n", '{\n  "hooks": {}\n}\n', "{ }"])(
  "gives what it writes into the empty containers of %j lines of its own",
  (before) => {
    const host = findHost("codex");
    const after = planSettings(host, before, options);
    const pretty = JSON.stringify(JSON.parse(after), null, 2);
    expect(after.replace(/ +$/gm, "").trim()).toBe(pretty);
    expect(removeSettings(host, after, options)).toBe(before);
  },
);

it("keeps comments where the host reads them, and refuses them where it does not", () => {
  const before = `{\n  // mine\n  "a": 1, // one\n  /* x */ "hooks": { /* none */ } // end\n}\n`;
  const host = findHost("gemini-cli");
  const after = planSettings(host, before, options);
  for (const comment of ["// mine", "// one", "/* x */", "/* none */", "// end"])
    expect(after).toContain(comment);
  expect(parse(after).hooks.BeforeTool).toHaveLength(1);
  expect(removeSettings(host, after, options)).toBe(before);
  expect(codeOf(() => planSettings(findHost("claude-code"), before, options))).toBe("settings_not_json");
});

it("keeps a comment that a user wrote into what was planned", () => {
  const host = findHost("gemini-cli");
  const after = planSettings(host, undefined, options).replace(`"hooks": {`, `"hooks": { // theirs`);
  expect(removeSettings(host, after, options)).toContain("// theirs");
});

it("sets the switches of hosts that have one to refuse calls when a hook fails", () => {
  const planned = (id: string) => JSON.parse(planSettings(findHost(id), "", options)).hooks;
  expect(planned("claude-code").PreToolUse[0].hooks[0]).toMatchObject({ onFailure: "block", timeout: 3600 });
  expect(planned("cursor").preToolUse[0]).toMatchObject({ failClosed: true, timeout: 3600 });
  expect(planned("gemini-cli").BeforeTool[0].hooks[0]).toMatchObject({ timeout: 3_600_000 });
  expect(planned("codex").SessionEnd[0].hooks[0]).toMatchObject({ timeout: 3 });
});

it("refuses settings in which hooks are switched off, and takes its hooks out of them", () => {
  const cases: readonly [string, object][] = [
    ["claude-code", { disableAllHooks: true }],
    ["gemini-cli", { hooksConfig: { enabled: false } }],
    ["gemini-cli", { hooksConfig: { disabled: ["harnesskit"] } }],
  ];
  for (const [id, off] of cases) {
    const host = findHost(id);
    expect(codeOf(() => planSettings(host, JSON.stringify(off), options))).toBe("settings_shape");
    const planned = planSettings(host, undefined, options).replace(
      "{",
      `{${JSON.stringify(off).slice(1, -1)},`,
    );
    expect(JSON.parse(removeSettings(host, planned, options))).toEqual(off);
  }
});

it("refuses a command that is not one line, and a time that is no time", () => {
  const host = findHost("codex");
  for (const command of ["", " ", "a\nb", "a\0", "x".repeat(5000)]) {
    expect(() => planSettings(host, "", { command })).toThrow(
      expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
    );
  }
  expect(() => planSettings(host, "", { ...options, timeoutMs: 0 })).toThrow(
    expect.objectContaining({ code: "invalid_argument" }),
  );
});

it("replaces only its own plugin file", () => {
  const host = findHost("opencode");
  const plugin = planSettings(host, undefined, options);
  expect(planSettings(host, plugin, { command: "new" })).toContain(`"new"`);
  expect(codeOf(() => planSettings(host, "export {}", options))).toBe("settings_shape");
  expect(removeSettings(host, plugin, options)).toBe("");
  expect(removeSettings(host, "export {}", options)).toBe("export {}");
  expect(managedSettings(host, options)).toBeUndefined();
});

it("a HookError is told from other errors of the SDK", () => {
  expect(HookError.isInstance(new HookError("unknown_host", "x"))).toBe(true);
  expect(HookError.isInstance(new HarnessError("unknown_host", "x"))).toBe(false);
});

it.each(hosts.map((host) => ({ id: host.id, host })))(
  "the commands of hooks are listed for $id",
  ({ host }) => {
    expect(hookCommands(host, undefined)).toEqual([]);
    expect(hookCommands(host, planSettings(host, undefined, options))).toEqual([options.command]);
  },
);
