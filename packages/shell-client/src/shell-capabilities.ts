import {
  type ActionType,
  type Capabilities,
  hasCapability,
  ShellCapability,
  type ShellIdentity,
  type ShellResponse,
  streamingCapability,
} from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { DirectiveExecutor } from "./shell-client-options.ts";

/** What a shell is (section 6), with the locale and the time zone of the platform where nothing is said of them. */
export const shellIdentity = (given: ShellIdentity = {}): ShellIdentity => {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { ...given, locale: given.locale ?? locale, timezone: given.timezone ?? (timeZone || undefined) };
};

export type Executors = ReadonlyMap<string, DirectiveExecutor>;

/** The executors of a shell by type. Inherited fields do not count. Throws `invalid_argument`. */
export const resolveExecutors = (given: Readonly<Record<string, DirectiveExecutor>> = {}): Executors => {
  for (const [type, executor] of Object.entries(given)) {
    if (typeof executor !== "function")
      throw new InvalidArgumentError(`executors.${type} must be a function`);
  }
  return new Map([["noop", () => undefined], ...Object.entries(given)]);
};

/** What a shell says that it can do (section 5.3). Throws `invalid_argument` where the caller says that it streams: `onStream` does. */
export const capabilitiesOf = (
  given: Capabilities,
  {
    canAsk,
    executors,
    actionTypes,
    canStream,
  }: { canAsk: boolean; canStream: boolean; executors: Executors; actionTypes: readonly ActionType[] },
): Capabilities => {
  if (hasCapability(given, ShellCapability.Streaming)) {
    throw new InvalidArgumentError(`${ShellCapability.Streaming}: pass onStream to read streams`);
  }
  const capabilities: Capabilities = { [ShellCapability.ParallelActions]: true };
  if (executors.has("render_ui")) capabilities[ShellCapability.RichCards] = true;
  if (canStream) capabilities[ShellCapability.Streaming] = { ...streamingCapability };
  if (canAsk || executors.has("request_approval")) capabilities[ShellCapability.Approval] = true;
  for (const { type, capability } of actionTypes) {
    if (capability !== undefined && executors.has(type)) capabilities[capability] = true;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === false || value === null) delete capabilities[name];
    else capabilities[name] = value;
  }
  return capabilities;
};

/** Whether both sides can work in parallel: the shell said so, and the engine offers it and has not denied it. */
export const isParallelWith = (own: Capabilities, response: ShellResponse): boolean => {
  const name = ShellCapability.ParallelActions;
  const isDenied = response.capability_denials?.some(({ capability }) => capability === name) ?? false;
  return !isDenied && hasCapability(own, name) && hasCapability(response.supported_capabilities, name);
};
