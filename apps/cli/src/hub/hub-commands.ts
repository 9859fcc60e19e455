import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ifPresent, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { shellWord } from "@harnesskit/wire";
import { fromHere } from "../io.ts";
import type { HubOptions } from "./hub.ts";

/** A database as a command may show it: without its password. */
const withoutPassword = (store: string): string =>
  store.replace(/^([a-z]+:\/\/[^:@/]*):[^@]*@/, "$1:PASSWORD@");

const words = (options: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(options)
    .flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellWord(String(value))}`]))
    .join("");

const path = (file: string | undefined) => (file === undefined ? undefined : fromHere(file));

/** The arguments of `harness` that start this hub again with its options, from any directory, and that run an agent under it. */
export const hubCommands = ({
  policy,
  state,
  port,
  store,
  keepDays,
  redact,
  notify,
  publicUrl,
  tlsCert,
  tlsKey,
}: HubOptions) => {
  const options = words({
    policy: policy === "default" ? undefined : path(policy),
    ...{
      state: path(state),
      port,
      "public-url": publicUrl,
      "tls-cert": path(tlsCert),
      "tls-key": path(tlsKey),
      notify: path(notify),
    },
    ...{ store: store && withoutPassword(store), "keep-days": keepDays === 30 ? undefined : keepDays },
  });
  const fields = redact?.map((field) => ` --redact ${shellWord(field)}`).join("") ?? "";
  return { start: `hub${options}${fields}`, run: `run${words({ hub: path(state) })}` };
};

const maxBytes = 10_000;
const placeIn = (directory: string): string => join(directory, "policy-file");

/** The policy's file that the hub of a state directory had last; undefined where that was the shipped one. Rejects as the system does. */
export const formerPolicyOf = async (directory: string): Promise<string | undefined> => {
  const kept = await ifPresent(readOwnFile(placeIn(directory), { maxBytes }));
  return kept?.toString("utf8").trim();
};

/** Keeps the absolute path of the policy's file that a hub was started with; `default` is kept as none. Rejects as the system does. */
export const keepPolicyName = async (directory: string, file: string): Promise<void> => {
  if (file === "default") await rm(placeIn(directory), { force: true });
  else await writeFileAtomic(placeIn(directory), `${file}\n`);
};
