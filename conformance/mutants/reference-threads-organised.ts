import { randomUUID } from "node:crypto";
import type { Request } from "./reference-harness.ts";
import { type Method, Refused } from "./reference-threads-socket.ts";

export interface KeptThread {
  thread: Request;
  readonly events: Request[];
  readonly always: Set<string>;
}

interface Parts {
  readonly skips: (rule: string) => boolean;
  readonly threadOf: (params: Request) => KeptThread;
  readonly text: (value: unknown) => string;
  readonly all: () => Iterable<KeptThread>;
  readonly isBusy: (threadId: string) => boolean;
  readonly keep: (thread: Request, events: Request[]) => void;
}

/** What the reference thread server does to organise threads. */
export const organised = ({ skips, threadOf, text, all, isBusy, keep }: Parts): Record<string, Method> => {
  const archive =
    (archived: number | undefined): Method =>
    (params) => {
      const kept = threadOf(params);
      if (archived !== undefined && isBusy(kept.thread.threadId) && !skips("archive-busy"))
        throw new Refused(-32002, "busy");
      const { archived: _, ...time } = kept.thread.time;
      kept.thread = { ...kept.thread, time: archived === undefined ? time : { ...time, archived } };
      return { thread: kept.thread };
    };
  const hits = ({ thread, events }: KeptThread, words: readonly string[]): Request[] =>
    events.flatMap(({ type, seq, time, data }) => {
      const said = type === "item.completed" ? data.item.data?.text : undefined;
      if (typeof said !== "string") return [];
      const folded = skips("any-case") ? said : said.toLowerCase();
      if (!words.every((word) => folded.includes(word))) return [];
      const { turnId, itemId } = data;
      return [{ thread, in: data.item.type, snippet: said, seq, time, turnId, itemId }];
    });
  return {
    "thread.rename": (params) => {
      const kept = threadOf(params);
      const title = text(params.title);
      if (!skips("titles") && (title.trim() === "" || /\p{Cc}/u.test(title)))
        throw new Refused(-32602, "title");
      if (!skips("renames")) kept.thread = { ...kept.thread, title };
      return { thread: kept.thread };
    },
    "thread.archive": archive(skips("archives") ? undefined : Date.now()),
    "thread.unarchive": skips("unarchives") ? archive(1) : archive(undefined),
    "thread.search": (params) => {
      const words = text(params?.query).toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0 && !skips("queries")) throw new Refused(-32602, "query");
      const found = params.threadId === undefined ? [...all()] : [threadOf(params)];
      return { hits: found.flatMap((kept) => hits(kept, words)) };
    },
    "thread.fork": (params) => {
      const { thread, events } = threadOf(params);
      const seq = params.seq ?? events.length;
      if (seq > events.length && !skips("fork-ends")) throw new Refused(-32602, "seq");
      const forkedFrom = { threadId: thread.threadId, seq };
      const fork = {
        ...thread,
        threadId: `ses_${randomUUID()}`,
        ...(skips("origins") ? {} : { forkedFrom }),
      };
      keep(fork, events.slice(0, seq));
      return { thread: fork };
    },
  };
};
