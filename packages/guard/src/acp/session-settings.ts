import { type AcpSetting, loosens, readAcpSettings } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { objectOf } from "../proxy/rpc-message.ts";

/** The modes and options of sessions, as their agents say and as they were set. */
export class AcpSettings {
  readonly #sessions: BoundedMap<string, Map<string, AcpSetting>>;

  constructor(maxSize: number) {
    this.#sessions = new BoundedMap({ maxSize });
  }

  /** A session was opened, with the result of that. */
  opened(session: string, result: JsonValue | undefined): readonly AcpSetting[] {
    const settings = readAcpSettings(result);
    this.#sessions.set(session, new Map(settings.map((each) => [each.id, each])));
    return settings;
  }

  get(session: string, id: string): AcpSetting | undefined {
    return this.#sessions.get(session)?.get(id);
  }

  /** A setting is set by a request; its former value. */
  set(session: string, id: string, value: JsonValue): JsonValue | undefined {
    const settings = this.#sessions.get(session);
    const before = settings?.get(id);
    settings?.set(id, { id, isMode: id === "mode", ...before, value });
    return before?.value;
  }

  /** An update of the agent. Returns what it has changed by itself so that it may ask less. */
  observe(session: string, update: JsonObject, agent: string | undefined): readonly AcpSetting[] {
    const settings = this.#sessions.get(session);
    const { sessionUpdate, currentModeId } = update;
    const isMode = sessionUpdate === "current_mode_update";
    if (settings === undefined || (!isMode && sessionUpdate !== "config_option_update")) return [];
    const given = readAcpSettings(isMode ? { modes: { currentModeId: currentModeId ?? null } } : update);
    const changed = given.filter(({ id, value }) => settings.has(id) && settings.get(id)?.value !== value);
    for (const { id, value } of given) this.set(session, id, value);
    return changed.filter(
      (each) => loosens(agent, { ...settings.get(each.id), ...each }, each.value) !== false,
    );
  }

  /** The options in the answer to `session/set_config_option`. */
  answered(session: string, result: JsonValue | undefined): void {
    for (const { id, value } of readAcpSettings(objectOf(result))) this.set(session, id, value);
  }
}
