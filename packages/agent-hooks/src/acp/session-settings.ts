import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { acpAgentFacts } from "./acp-agents.ts";

/** A mode or a config option of a session of an ACP agent. */
export interface AcpSetting {
  /** That of the config option; `mode` for a session's mode. */
  readonly id: string;
  /** Set by `session/set_mode`; else by `session/set_config_option`. */
  readonly isMode: boolean;
  readonly value: JsonValue;
  /** What a config option is for, such as `model`. */
  readonly category?: string | undefined;
}

/** A setting with the value with which the agent asks. */
export interface AcpSettingChange {
  readonly setting: AcpSetting;
  readonly value: string;
}

/** Options that choose a model and how it works: no action passes by them that did not before. */
const harmless: ReadonlySet<string | undefined> = new Set(["model", "model_config", "thought_level"]);

/**
 * The settings in the result of `session/new`, `load`, `resume`, `fork` or `set_config_option`, or in an update. An agent may show its modes in
 * both ways: they are one setting. What is not a setting of ACP is left out.
 */
export const readAcpSettings = (result: JsonValue | undefined): readonly AcpSetting[] => {
  const { modes, configOptions } = isObject(result) ? (result as JsonObject) : {};
  const found = new Map<string, AcpSetting>();
  for (const option of Array.isArray(configOptions) ? configOptions : []) {
    if (!isObject(option)) continue;
    const { id, currentValue, category } = option as JsonObject;
    if (typeof id !== "string" || currentValue === undefined) continue;
    const about = typeof category === "string" ? { category } : {};
    found.set(id, { id, isMode: false, value: currentValue, ...about });
  }
  const mode = isObject(modes) ? (modes as JsonObject).currentModeId : undefined;
  if (typeof mode === "string")
    found.set("mode", { id: "mode", isMode: true, value: mode, category: "mode" });
  return [...found.values()];
};

/** What has to be set so that the agent asks before it acts, as far as it does; undefined where that is not known of this agent. */
export const askingChanges = (
  agent: string | undefined,
  settings: readonly AcpSetting[],
): readonly AcpSettingChange[] | undefined => {
  const { asking } = acpAgentFacts(agent);
  if (asking === undefined) return undefined;
  const changes: AcpSettingChange[] = [];
  for (const [id, values] of Object.entries(asking)) {
    const setting = settings.find((one) => one.id === id);
    if (setting === undefined) return undefined;
    if (!values.some((one) => one === setting.value)) changes.push({ setting, value: values[0] });
  }
  return changes;
};

/** Whether an agent may ask less with a setting at this value; undefined where that is not known. */
export const loosens = (
  agent: string | undefined,
  setting: Pick<AcpSetting, "id" | "category">,
  value: JsonValue,
): boolean | undefined => {
  const { asking } = acpAgentFacts(agent);
  if (asking !== undefined && Object.hasOwn(asking, setting.id)) {
    return !asking[setting.id]?.some((one) => one === value);
  }
  return harmless.has(setting.category) ? false : undefined;
};

/** What an agent is known to do without asking, in words; undefined where nothing is known. */
export const askingGap = (agent: string | undefined): string | undefined => acpAgentFacts(agent).gap;
