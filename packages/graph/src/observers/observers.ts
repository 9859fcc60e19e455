import { InvalidArgumentError } from "@harnesskit/wire";
import type { EventPhase, Observer } from "./node-event.ts";

/** Which events an observer receives. */
export interface ObserverOptions {
  /** The phases of its events, at least one. @default started, completed and suspended */
  readonly phases?: readonly EventPhase[] | undefined;
}

/** An observer that is passed to one invocation. */
export type ObserverInput = Observer | ({ readonly observe: Observer } & ObserverOptions);

/** An observer with its phases. */
export interface Registration {
  readonly observe: Observer;
  readonly phases: ReadonlySet<EventPhase>;
}

const allPhases: readonly EventPhase[] = ["started", "completed", "suspended"];

/** Throws `invalid_argument` for no phase at all and for one that does not exist. */
export const toRegistration = (
  observe: Observer,
  { phases = allPhases }: ObserverOptions = {},
): Registration => {
  if (phases.length === 0 || phases.some((phase) => !allPhases.includes(phase))) {
    throw new InvalidArgumentError(`an observer's phases are some of ${allPhases.join(", ")}`);
  }
  return { observe, phases: new Set(phases) };
};

export const toRegistrations = (inputs: readonly ObserverInput[] = []): readonly Registration[] =>
  inputs.map((input) =>
    typeof input === "function" ? toRegistration(input) : toRegistration(input.observe, input),
  );
