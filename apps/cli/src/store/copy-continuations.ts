import { HarnessError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { type CopyCount, conflict, sameJson } from "./copy-count.ts";
import type { Continuations } from "./open.ts";

const pageSize = 100;

type Stored = Awaited<ReturnType<Continuations["page"]>>[number];

async function* allOf(store: Continuations): AsyncGenerator<Stored> {
  for (let afterId: string | undefined; ; ) {
    const page = await store.page({ afterId, limit: pageSize });
    yield* page;
    if (page.length === 0) return;
    afterId = page.at(-1)?.id;
  }
}

/** Open questions of shells, with the key that signs them: an answer to FROM's question is taken by TO. */
export const copyContinuations = async (from: Continuations, to: Continuations): Promise<CopyCount> => {
  const there = new Map<string, Stored>();
  for await (const each of allOf(to)) there.set(each.id, each);
  let [total, copied] = [0, 0];
  try {
    for await (const each of allOf(from)) {
      total++;
      const found = there.get(each.id);
      if (found !== undefined && !sameJson(found, each)) throw conflict("the continuation", each.id);
      if (found === undefined) copied += await to.restore(from.key, [each]);
    }
  } catch (cause) {
    if (!HarnessError.isInstance(cause) || cause.code !== "key_conflict") throw cause;
    throw new CliError("copy_conflict", "TO has open shell questions that were signed with another key", {
      hint: "Copy to an empty store.",
      cause,
    });
  }
  return { total, copied };
};
