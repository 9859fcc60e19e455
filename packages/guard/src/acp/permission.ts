import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { defined } from "@harnesskit/wire/json";
import { objectOf } from "../proxy/rpc-message.ts";

/** An option of `session/request_permission`. */
interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
}

const permissionOptions = (params: JsonObject): readonly PermissionOption[] =>
  params.options as unknown as PermissionOption[];

const selected = (optionId: string, reason?: string): JsonObject =>
  defined({
    outcome: { outcome: "selected", optionId },
    _meta: reason === undefined ? undefined : { harnesskit: { reason } },
  });

export const cancelledPermission: JsonObject = { outcome: { outcome: "cancelled" } };

const onceOptions = (params: JsonObject): readonly PermissionOption[] =>
  permissionOptions(params).filter(({ kind }) => kind === "allow_once");

/** The permission for this one call; undefined where the agent offers several: the editor's user has to choose among them. */
export const grantOnce = (params: JsonObject): JsonObject | undefined => {
  const [first, ...others] = onceOptions(params);
  return first === undefined || others.length > 0 ? undefined : selected(first.optionId);
};

/** Why an approval of this one call cannot be sent to the agent; undefined if it can. */
export const grantProblem = (params: JsonObject): string | undefined => {
  if (onceOptions(params).length > 0) return undefined;
  const always = permissionOptions(params).find(({ kind }) => kind === "allow_always");
  return always === undefined
    ? "the agent offers no answer that allows the call"
    : `the agent offers no answer that allows this call only: after ${JSON.stringify(always.name.slice(0, 100))} (allow_always) it would ask no more`;
};

/** The refusal that the agent offers, for this one call if it can be. */
export const refusePermission = (params: JsonObject, reason: string): JsonObject => {
  const options = permissionOptions(params);
  const option =
    options.find(({ kind }) => kind === "reject_once") ??
    options.find(({ kind }) => kind === "reject_always");
  return option === undefined ? cancelledPermission : selected(option.optionId, reason);
};

/** The question for the editor's user, without the answers after which the agent asks no more. */
export const askEditor = (params: JsonObject): JsonObject => ({
  ...params,
  options: permissionOptions(params).filter(({ kind }) => kind !== "allow_always") as unknown as JsonValue,
});

/** Whether the editor's answer lets the agent go on. */
export const isGranted = (params: JsonObject, result: JsonValue | undefined): boolean => {
  const { outcome, optionId } = objectOf(objectOf(result).outcome);
  if (outcome !== "selected") return false;
  return permissionOptions(params).some((one) => one.optionId === optionId && one.kind.startsWith("allow"));
};
