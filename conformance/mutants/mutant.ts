import type { TransportName } from "../src/scenario/step-schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON that deviations take apart.
type Json = any;

export type MutantTransport = Exclude<TransportName, "stdio">;

/** A peer with one deviation, and the requirements of which at least each has a check that notices it. */
export type Mutant<Deviation> = Deviation & {
  readonly name: string;
  readonly kills: readonly string[];
  /** Where it deviates. @default unix */
  readonly transport?: MutantTransport;
};

/** Declares a mutant that changes something. */
type Declare<Change, M> = (name: string, change: Change, ...kills: string[]) => M;

/** Does not follow a rule. */
export const skip = (rule: string, ...kills: string[]) => ({ name: `without ${rule}`, kills, skip: rule });

/** Does not follow a rule over a transport. */
export const skipOver = (transport: MutantTransport, rule: string, ...kills: string[]) => ({
  ...{ name: `without ${rule} over ${transport}`, kills, skip: rule, transport },
});

/** Is served in another way. */
export const serve = (how: string, transport: MutantTransport, ...kills: string[]) => ({
  ...{ name: `${transport} ${how}`, kills, serve: how, transport },
});

/** Declares mutants that change what a member of a deviation changes. */
export const deviating =
  <Deviation, Key extends keyof Deviation>(
    verb: string,
    key: Key,
  ): Declare<NonNullable<Deviation[Key]>, Mutant<Deviation>> =>
  (name, change, ...kills) =>
    ({ name: `${verb} ${name}`, kills, [key]: change }) as unknown as Mutant<Deviation>;

/** The same for a part of what is changed, which `lift` finds. */
export const within =
  <Change, Part, M>(declare: Declare<Change, M>, lift: (change: Part) => Change): Declare<Part, M> =>
  (name, change, ...kills) =>
    declare(name, lift(change), ...kills);

export const without = (value: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !names.includes(key)));

/** Changes the params of messages of a method. */
export const paramsOf = (method: string) => (change: (params: Json) => Json) => (message: Json) =>
  message.method === method ? { ...message, params: change(message.params) } : message;

/** Changes results. */
export const resultOf = (change: (result: Json) => Json) => (message: Json) =>
  message.result === undefined ? message : { ...message, result: change(message.result) };
