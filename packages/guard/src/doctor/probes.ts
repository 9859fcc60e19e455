import { type Host, hookFailures } from "@harnesskit/agent-hooks";
import { shellWord } from "@harnesskit/wire";

/**
 * What a hook does in one run: `allow` and `deny` answer as a guard does, `no_hub` is the hook's own program without a hub, and the others are
 * the ways to fail.
 */
export const probes = ["allow", "deny", "no_hub", ...hookFailures] as const;
export type Probe = (typeof probes)[number];

/** Whether the tool must not run, whatever the host: the hook has answered. */
export const isAnswered = (probe: Probe): probe is "allow" | "deny" | "no_hub" =>
  probe === "allow" || probe === "deny" || probe === "no_hub";

export interface ProbeParts {
  /** A file that the hook makes when it is started. */
  readonly started: string;
  /** A path at which nothing is. */
  readonly nothing: string;
  /** The words that start the hook's own program, without the id of the host. */
  readonly program: readonly string[] | undefined;
}

/** The name of the event before a tool, as the planned settings register it. */
const gateOf = (host: Host): string =>
  Object.keys(host.events).find((name) => host.events[name]?.ahp === "pre_action") ?? "";

/** The command line of a hook that does this; undefined where there is no program for `no_hub`. */
const commandOf = (
  host: Host,
  probe: Probe,
  { started, nothing, program }: ProbeParts,
): string | undefined => {
  const begin = `cat >/dev/null; touch ${shellWord(started)}; `;
  const answer = (verdict: Parameters<Host["write"]>[0]) =>
    `${begin}printf %s ${shellWord(JSON.stringify(host.write(verdict, gateOf(host)) ?? {}))}`;
  switch (probe) {
    case "allow":
    case "untrusted":
      return answer(
        probe === "allow" ? { kind: "pass" } : { kind: "block", reason: "the doctor refuses this call" },
      );
    case "deny":
      return answer({ kind: "block", reason: "the doctor refuses this call" });
    case "no_hub":
      return program && [...program, host.id, "--socket", nothing].map(shellWord).join(" ");
    case "crash":
      return `${begin}exit 1`;
    case "silent_exit":
      return `${begin}exit 2`;
    case "garbage":
      return `${begin}echo this is not JSON`;
    case "timeout":
      return `${begin}exec sleep 20`;
    case "missing":
      return nothing;
  }
};

const shortMs = 1000;
const longMs = 30_000;

/**
 * The text of a settings file with one hook, before each tool, as `guard init` would write it, or of the plugin file; undefined where the probe
 * cannot be made.
 */
export const probeSettings = (host: Host, probe: Probe, parts: ProbeParts): string | undefined => {
  const { settings } = host;
  const command = commandOf(host, probe, parts);
  if (command === undefined) return undefined;
  const hook = { command, timeoutMs: probe === "timeout" ? shortMs : longMs };
  if (settings.kind === "plugin") return settings.plugin(hook);
  const gate = gateOf(host);
  const entries = Object.entries(settings.entries(hook)).filter(([event]) => event === gate);
  const hooks = Object.fromEntries(entries.map(([event, entry]) => [event, [entry]]));
  return JSON.stringify({ ...settings.header, hooks });
};
