import { costOf, type ModelPrices } from "@harnesskit/models";
import type { Usage } from "@harnesskit/protocol/threads";
import { io } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { tableLines } from "../terminal/table-lines.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { formatDollars, formatTime } from "../terminal/text.ts";
import { noteUnreadable, openStoredThreads, type StoredThreads, unreadableOf } from "./stored-threads.ts";
import { shortId } from "./thread-row.ts";

export interface ThreadsCostOptions {
  readonly cwd: string;
  readonly by: "thread" | "turn" | "agent" | "model" | "day";
  /** Turns that began no longer ago than so many milliseconds. @default all */
  readonly since?: number;
  readonly json?: true;
}

/** One turn that has ended. */
interface SpentTurn {
  readonly threadId: string;
  readonly title: string;
  readonly turnId: string;
  readonly startedMs: number;
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
}

interface Spent {
  readonly name: string;
  /** Of a thread: untrusted text. */
  title?: string | undefined;
  turns: number;
  inputTokens: number;
  cacheReadTokens: number;
  outputTokens: number;
  /** Of the turns whose model has a price. */
  cost: number;
  turnsWithoutPrice: number;
}

async function* spentTurns(stored: StoredThreads, fromMs: number): AsyncGenerator<SpentTurn> {
  for (const { threadId, title, time } of await stored.store.list()) {
    if (time.updated < fromMs) continue;
    const asked = new Map<string, { readonly agent: string; readonly model: string }>();
    for await (const { type, data } of stored.store.events(threadId)) {
      if (type === "item.completed" && data.item.type === "user_message") {
        const { agent = "", model } = data.item.data ?? {};
        asked.set(data.turnId, { agent, model: model?.modelID.split("#").at(-1) ?? "" });
      }
      if (type !== "turn.completed" && type !== "turn.error") continue;
      const { turnId, usage, time } = data.turn;
      if (usage === undefined || time.started < fromMs) continue;
      const { agent = "", model = "" } = asked.get(turnId) ?? {};
      yield { threadId, title, turnId, startedMs: time.started, agent, model: usage.modelId ?? model, usage };
    }
  }
}

const nameOf = (turn: SpentTurn, by: ThreadsCostOptions["by"]): string => {
  switch (by) {
    case "thread":
      return turn.threadId;
    case "turn":
      return turn.turnId;
    case "agent":
      return turn.agent || "unknown";
    case "model":
      return turn.model || "unknown";
    case "day":
      return formatTime(turn.startedMs).split(" ")[0] ?? "";
  }
};

const nothing = (name: string): Spent => ({
  ...{ name, turns: 0, inputTokens: 0, cacheReadTokens: 0, outputTokens: 0, cost: 0, turnsWithoutPrice: 0 },
});

const add = (sum: Spent, { usage, model }: SpentTurn, prices: ModelPrices): void => {
  const cost = costOf(usage, model, prices);
  sum.turns++;
  sum.inputTokens += usage.inputTokens ?? 0;
  sum.cacheReadTokens += usage.cacheReadTokens ?? 0;
  sum.outputTokens += usage.outputTokens ?? 0;
  if (cost === undefined) sum.turnsWithoutPrice++;
  else sum.cost += cost;
};

/** Dollars; `?` where no turn has a price, and `≥` where some have none. */
const dollars = ({
  cost,
  turns,
  turnsWithoutPrice,
}: Pick<Spent, "cost" | "turns" | "turnsWithoutPrice">): string => {
  if (turns > 0 && turnsWithoutPrice === turns) return "?";
  return `${turnsWithoutPrice > 0 ? "≥ " : ""}${formatDollars(cost)}`;
};

/**
 * `harness threads cost`: the tokens of the turns that have ended and what they cost, by thread, turn, agent, model or day. A model without
 * a price costs an unknown sum, and never nothing.
 */
export const showCost = async ({ cwd, by, since, json }: ThreadsCostOptions): Promise<void> => {
  const fromMs = since === undefined ? 0 : io().clock.now() - since;
  const prices = await pricesOf();
  const stored = await openStoredThreads(cwd);
  const groups = new Map<string, Spent>();
  const total = nothing("total");
  const unpriced = new Set<string>();
  for await (const turn of spentTurns(stored, fromMs)) {
    const name = nameOf(turn, by);
    const group = groups.get(name) ?? nothing(name);
    groups.set(name, group);
    if (by === "thread") group.title = turn.title;
    add(group, turn, prices);
    add(total, turn, prices);
    if (costOf(turn.usage, turn.model, prices) === undefined) unpriced.add(turn.model || "unknown");
  }
  const terminal = createTerminal();
  const rows = [...groups.values()];
  if (by === "day") rows.sort((a, b) => a.name.localeCompare(b.name));
  if (json) {
    terminal.json({ currency: "USD", by, groups: rows, total, ...unreadableOf(stored) });
    return;
  }
  noteUnreadable(stored);
  const number = (value: number) => value.toLocaleString("en-US");
  const { columns } = terminal;
  const isCached = total.cacheReadTokens > 0;
  const ids = rows.map(({ name }) => name);
  const named = ({ name, title }: Spent) =>
    title === undefined ? name : `${columns === undefined ? name : shortId(name, ids)}  ${title}`;
  const heads = ["cost", "input", ...(isCached ? ["from cache"] : []), "output", "turns"];
  const table = {
    columns: [...heads.map((label) => ({ label, isNumeric: true })), { label: by, isNumeric: false }],
    rows: [...rows, total].map((row) => [
      dollars(row),
      number(row.inputTokens),
      ...(isCached ? [number(row.cacheReadTokens)] : []),
      number(row.outputTokens),
      number(row.turns),
      named(row),
    ]),
  };
  terminal.say(tableLines(table, terminal.style, columns));
  if (unpriced.size > 0) {
    const names = [...unpriced].slice(0, 10);
    terminal.say(`No price is known for ${names.join(", ")}: set one in the file of HARNESS_PRICES`);
  }
};
