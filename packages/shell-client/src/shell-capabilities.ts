import {
  type ActionType,
  type Capabilities,
  hasCapability,
  ShellCapability,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";

export interface AbleTo {
  readonly canAsk: boolean;
  /** Whether a type has an executor. */
  readonly canDo: (type: string) => boolean;
  readonly actionTypes: readonly ActionType[];
}

/** What a shell says that it can do (section 5.3). Throws `invalid_argument` where it says that it streams. */
export const capabilitiesOf = (given: Capabilities, { canAsk, canDo, actionTypes }: AbleTo): Capabilities => {
  if (hasCapability(given, ShellCapability.Streaming)) {
    throw new InvalidArgumentError(
      `${ShellCapability.Streaming}: this shell takes one response to a request`,
    );
  }
  const capabilities: Capabilities = { [ShellCapability.ParallelActions]: true };
  if (canDo("render_ui")) capabilities[ShellCapability.RichCards] = true;
  if (canAsk) capabilities[ShellCapability.Approval] = true;
  for (const { type, capability } of actionTypes) {
    if (capability !== undefined && canDo(type)) capabilities[capability] = true;
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
