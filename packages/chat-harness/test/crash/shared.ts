import type { GraphStore } from "@harnesskit/graph";
import type { ChatTurnOutcome, SuspensionSummary } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ResumedTurn } from "../../src/deliveries.ts";
import type { Delivery, SignalOutcome } from "../../src/index.ts";
import type { ChatFields } from "../../src/messages-field.ts";
import type { GraphSource } from "../../src/options.ts";
import type { OpenTurns } from "../../src/outcomes.ts";

/** What a client knows of its session. */
export interface Ledger {
  readonly sessionId: string;
  life: number;
  readonly sends: { text: string; tried: number; isAcknowledged: boolean; invocationId: string | null }[];
  readonly signals: {
    signalId: string;
    invocationId: string;
    tried: { value: string; life: number; isHeard: boolean }[];
    resumedWith: string | null;
    isAnswered: boolean;
  }[];
  readonly told: { invocationId: string; replies: string[]; life: number }[];
}

/** How a client reaches a harness. */
export interface World {
  send(sessionId: string, text: string): Promise<ChatTurnOutcome>;
  signal(signal: { readonly signalId: string; readonly payload: JsonObject }): Promise<SignalOutcome>;
  pending(sessionId: string): Promise<OpenTurns>;
}

export interface ChatClient {
  readonly ledger: Ledger;
  beginLife(world: World): void;
  hear(turn: ResumedTurn, delivery: Delivery): void;
  send(text: string): Promise<void>;
  signal(text: string, stage?: string): Promise<void>;
  answerStrangers(): Promise<void>;
}

/** What a store has of a session. */
export interface Reading {
  readonly sessionId: string;
  readonly history: readonly { readonly role: string; readonly text: string }[];
  readonly effects: readonly string[];
  readonly heard: number;
  readonly records: readonly SuspensionSummary[];
}

type Check = (reading: Reading, ledger: Ledger) => unknown;

/** Told of a moment. */
export type At = (label: string) => void;

interface Modules {
  readonly "story-graph": {
    createStoryGraph(parts: object, at: At): GraphSource<ChatFields>;
  };
  readonly "named-store": { namedStore(inner: GraphStore, at: At): GraphStore };
  readonly client: { readonly ChatClient: new (sessionId: string, ledger?: Ledger) => ChatClient };
  readonly reading: {
    readSession(store: GraphStore, sessionId: string): Promise<Reading>;
    takeApart(reading: Pick<Reading, "sessionId" | "history">): object;
  };
  readonly check: { readonly checkNow: Check; readonly checkEnd: Check };
}

/** The modules of the story, which have no types of their own. */
const load = async <Name extends keyof Modules>(name: Name): Promise<Modules[Name]> =>
  import(new URL(`./${name}.mjs`, import.meta.url).href);

export const { createStoryGraph } = await load("story-graph");
export const { namedStore } = await load("named-store");
export const { ChatClient } = await load("client");
export const { readSession } = await load("reading");
export const { checkNow, checkEnd } = await load("check");
