import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { findHost, type HookCall, type Host, readHook } from "../../src/index.ts";

/** A recorded input of a host's hook. */
export interface Example {
  readonly name: string;
  /** Where it is from. */
  readonly source: string;
  readonly event?: string;
  readonly input: JsonObject;
  readonly expect: { readonly ahp?: string; readonly tool?: string; readonly kind?: string };
}

const fixtures = new URL("../fixtures/", import.meta.url);

/** All recorded examples of a host. */
export const examplesOf = (host: Host): readonly Example[] => {
  const folder = new URL(`${host.id}/`, fixtures);
  return readdirSync(folder)
    .sort()
    .map((file) => ({
      name: file.replace(/\.json$/, ""),
      ...(JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Omit<Example, "name">),
    }));
};

/** Reads an example, or one with other input. */
export const readExample = (host: Host, { event, input }: Example): HookCall =>
  readHook(host, JSON.stringify(input), {
    ...(event !== undefined && { event }),
    clock: { now: () => 0 },
    workspace: "/work/app",
  });

/** A recorded example, read. */
export const exampleCall = (hostId: string, name: string): HookCall => {
  const host = findHost(hostId);
  const example = examplesOf(host).find((one) => one.name === name);
  if (!example) throw new Error(`no example ${name} of ${hostId}`);
  return readExample(host, example);
};
