import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { settleWithin } from "@harnesskit/wire/time";
import { ConformanceError, Unmet, Unreached, Unseen } from "../errors.ts";
import { toText } from "../link/link.ts";
import { type CredentialKind, RefusedConnection } from "../target/dial.ts";
import type { Outcome } from "../target/driver.ts";
import { linkOf } from "./message-steps.ts";
import type { DoStep, Post, ReadyStep, StepContext } from "./step-context.ts";

export const open: DoStep = async ({ step }, context) => {
  if (context.server === undefined) throw new ConformanceError("invalid_scenario", "open is for servers");
  try {
    const link = await context.server.open((step.credential as CredentialKind | undefined) ?? "valid");
    const name = String(step.open);
    const former = context.links.get(name);
    if (former !== undefined) context.endedLinks.push(former);
    context.links.set(name, link);
    return { open: true };
  } catch (error) {
    if (RefusedConnection.isInstance(error)) return { open: false, status: error.status };
    throw error;
  }
};

export const accept: DoStep = async (ready, context) => {
  if (context.client === undefined) throw new ConformanceError("invalid_scenario", "accept is for clients");
  const { link, facts } = await context.client.accept(ready.within);
  context.links.set(String(ready.step.accept), link);
  return facts ?? {};
};

const named =
  (verb: "end" | "pause" | "resume"): DoStep =>
  async (ready, context) => {
    const link = await linkOf(ready, context, String(ready.step[verb]));
    const act = link[verb];
    if (act === undefined)
      throw new ConformanceError("invalid_scenario", `${context.transport} has no ${verb}`);
    act();
    return true;
  };

export const end = named("end");
export const pause = named("pause");
export const resume = named("resume");

export const close: DoStep = async (ready, context) => {
  await (await linkOf(ready, context, String(ready.step.close))).close();
  return true;
};

export const closed: DoStep = async (ready, context) =>
  await (await linkOf(ready, context, String(ready.step.closed))).inbox.ended(ready.within);

export const ping: DoStep = async (ready, context) => {
  await (await linkOf(ready, context, String(ready.step.ping))).ping?.(ready.within);
  return { pong: true };
};

export const post: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  context.note(`> POST ${toText(ready.step.post)}`);
  if (link.post === undefined) throw new ConformanceError("invalid_scenario", "post is for HTTP");
  return await link.post(ready.step.post as Post, ready.within);
};

/** The connections that there were end; what came over them is still judged. */
export const restart: DoStep = async ({ step }, context) => {
  if (!context.isStarted) throw new Unseen("the suite did not start the target, and cannot start it again");
  const links = [...context.links.values()];
  context.links.clear();
  context.endedLinks.push(...links);
  await Promise.all([
    (context.server ?? context.client)?.restart(step.restart as "kill" | "stop"),
    ...links.map((link) => link.close()),
  ]);
  return true;
};

export const log: DoStep = async (_, context) => ({ log: (context.server ?? context.client)?.log() ?? "" });

const parsed = (texts: readonly string[]): unknown[] | undefined => {
  try {
    return texts.map((text): unknown => JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** Its `lines` and `json` are absent where the text is not JSON of that kind. */
const fileContent = async (path: string): Promise<object> => {
  const status = await stat(path);
  const mode = (status.mode & 0o777).toString(8).padStart(3, "0");
  if (!status.isFile()) return { mode };
  const text = await readFile(path, "utf8");
  return { text, lines: parsed(text.split("\n").filter(Boolean)), json: parsed([text])?.[0], mode };
};

/** Reads a file of the target's folder; what is not there yet may come within the time. */
export const file: DoStep = async ({ step, within }: ReadyStep, context: StepContext) => {
  if (!context.isStarted)
    throw new Unseen("the suite did not start the target, and does not know its folder");
  const dueAt = performance.now() + within;
  for (;;) {
    try {
      return await fileContent(join(context.folder, String(step.file)));
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (isMissing && step.optional === true) return { text: "", lines: [] };
      if (!isMissing || performance.now() > dueAt)
        throw new Unmet(`the file ${String(step.file)} is not in the folder of the target`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
};

/** The driver did not answer: its process had ended. */
const isDriverEnd = (outcome: Outcome): boolean =>
  "error" in outcome && (outcome.error as { readonly code?: unknown } | null)?.code === "driver_ended";

export const doOperation: DoStep = async ({ step, as }, context) => {
  const target = context.client ?? context.server;
  if (target === undefined) throw new ConformanceError("invalid_scenario", "there is no target");
  context.note(`do ${String(step.do)} ${toText(step.params ?? {})}`);
  const outcome = target.do(String(step.do), step.params ?? {});
  context.outcomes.set(as ?? String(step.do), outcome);
  void outcome.then(
    (came) => {
      context.driverSpoke ||= !isDriverEnd(came);
    },
    () => {},
  );
  return true;
};

export const done: DoStep = async ({ step, within }, context) => {
  const outcome = context.outcomes.get(String(step.done));
  if (outcome === undefined) throw new Unreached(String(step.done));
  const name = String(step.done);
  const settled = await settleWithin(outcome, { name, timeoutMs: within });
  if (settled.status === "failed") throw settled.error;
  if (settled.status !== "done")
    throw new Unmet(`${name} did not end within ${within} ms (--within gives more)`);
  context.scope.set(name, settled.value);
  return settled.value;
};

export const check: DoStep = async ({ step }) => step.check;
