import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ChatMessageSchema, errorBucketOf } from "@harnesskit/protocol/chat";
import { nestedGraphs, runNested } from "./reference-nested.ts";
import { broken, END_OF_SCRIPT, type Json, reduce, runScript, scriptOf, Thrown } from "./reference-script.ts";
import { copy, defaults, outside, ReferenceSessions } from "./reference-sessions.ts";
import type { CreateChatAdapter } from "./serve-adapter.ts";

/** What a mutant of the reference chat harness does differently; nothing: the reference itself. */
export interface ChatDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Messages that are taken though they are not valid, or refused though they are. */
  readonly takes?: (message: Json) => boolean | undefined;
  /** Changes a message that was taken. */
  readonly keeps?: (message: Json) => Json;
  /** Changes what the harness gives. */
  readonly gives?: (result: Json, method: string, params: Json) => Json;
  /** The buckets of categories that have another. */
  readonly buckets?: Readonly<Record<string, string>>;
  /** What a field's reducer makes of an update. */
  readonly reducers?: Readonly<Record<string, (prior: Json, update: Json) => Json>>;
}

/** A small chat harness behind the adapter of the suite, or a mutant of it. */
export const createReferenceChat =
  (deviation: ChatDeviation = {}): CreateChatAdapter =>
  (directory, notify) => {
    const skips = (rule: string) => deviation.skip === rule;
    const sessions = new ReferenceSessions(directory, skips);
    const { stored, counts, faults } = sessions;
    let graphName = "script";
    const listeners = new Map<string, { session: string; fails: boolean }>();
    const lanes = new Map<string, Promise<unknown>>();

    const inLane = <T>(session: string, work: () => Promise<T>): Promise<T> => {
      if (skips("lanes")) return work();
      const done = (lanes.get(session) ?? Promise.resolve()).then(work, work);
      lanes.set(
        session,
        skips("release")
          ? done.then((turn: Json) => turn.outcome === "errored" && new Promise(() => {}))
          : done,
      );
      return done;
    };
    const errored = (error: Json): Json => {
      const { category, message } =
        error instanceof Thrown ? error : { category: "node_exception", message: String(error) };
      const found =
        skips("unknown-transient") && category === "com_example_strange"
          ? "user_correctable"
          : errorBucketOf(category);
      const bucket = deviation.buckets?.[category] ?? found;
      const texts: Record<string, string> = {
        session_terminating: "This conversation can't continue.",
        retryable_transient: "Try again in a moment.",
        user_correctable: `That request couldn't be processed: ${skips("diagnostic") ? "an error" : message}.`,
      };
      const reply = { role: "system", content: texts[bucket] ?? "no" };
      return { outcome: "errored", error_bucket: bucket, error_category: category, reply };
    };
    const check = (message: Json): Json => {
      const verdict = deviation.takes?.(message);
      const parsed = ChatMessageSchema.safeParse(message);
      if (verdict === true) return message;
      if (verdict === false || !parsed.success)
        throw new Thrown(
          "chat_message_shape_invalid",
          skips("where") ? "it\nis\nwrong" : "content or role is not valid",
        );
      return deviation.keeps ? deviation.keeps(parsed.data) : parsed.data;
    };

    const tell = (session: string, outcome: Json): void => {
      for (const [subscription, { session: of, fails }] of listeners) {
        if (of !== session && !skips("own-listeners")) continue;
        if (fails && skips("isolated")) return;
        if (fails) continue;
        notify("delivered", { subscription, session_id: of, outcome });
        if (skips("once-told")) notify("delivered", { subscription, session_id: of, outcome });
      }
    };

    /** Runs the script on; gives the turn, and keeps the state or the pause. */
    const run = async (
      session: string,
      id: string,
      state: Json,
      tail: number,
      told: number,
    ): Promise<Json> => {
      const before = copy(stored.sessions[session]);
      try {
        const isNested = graphName in nestedGraphs;
        const end = isNested
          ? runNested(graphName, state, skips)
          : await runScript(state, skips, (update) => sessions.save(session, update), deviation.reducers);
        if (end === END_OF_SCRIPT) {
          const all = skips("by-content")
            ? state.messages
                .slice(tail)
                .filter(
                  (each: Json) =>
                    !state.messages.slice(0, tail).some((old: Json) => isDeepStrictEqual(old, each)),
                )
            : state.messages.slice(skips("inbound") ? tail - 1 : tail);
          const replies = skips("all-roles")
            ? all.filter(({ role, tool_calls: calls }: Json) => role === "assistant" && !calls)
            : all;
          sessions.save(session, state);
          return { outcome: "completed", replies, ...(skips("final-state") ? {} : { final_state: state }) };
        }
        const { signal_id } = end.descriptor;
        if (signal_id === "" && !skips("signal-id")) throw new Thrown("invalid_argument", "no signal id");
        const isTaken = Object.values(stored.paused).some(
          (each: Json) => each.isWaiting && each.signal === signal_id,
        );
        if (isTaken && !skips("taken"))
          throw new Thrown("harness_signal_subscription_failed", "it is in use");
        if (skips("swallow") && end.drop !== undefined) return { outcome: "completed", replies: [] };
        if (faults.delete("suspend")) {
          if (skips("atomic")) sessions.save(session, state);
          state.isSaved = skips("atomic");
          throw new Thrown("suspension_persistence_failed", "it cannot be stored");
        }
        if (!skips("session-at-pause")) sessions.save(session, state);
        const invocation_id = skips("same-invocation") ? randomUUID() : id;
        stored.paused[invocation_id] = {
          session,
          signal: signal_id,
          state: copy(state),
          tail: told,
          length: state.messages.length,
          isWaiting: true,
        };
        sessions.write();
        const pending_messages = skips("pending") ? [] : state.messages.slice(tail);
        const descriptor = skips("metadata") ? { signal_id } : end.descriptor;
        return { outcome: "suspended", signal_descriptor: descriptor, pending_messages, invocation_id };
      } catch (error) {
        if (!state.isSaved && !skips("rolls-back")) {
          if (before === undefined) delete stored.sessions[session];
          else stored.sessions[session] = before;
        } else if (skips("rolls-back")) sessions.save(session, state);
        sessions.write();
        return errored(error);
      }
    };

    const send = async (session: Json, message: Json): Promise<Json> => {
      if (typeof session !== "string" || session === "") {
        if (skips("session-id-first")) sessions.load("");
        if (!skips("session-id"))
          return errored(new Thrown("harness_session_id_unresolved", "the id is empty"));
      }
      let taken: Json;
      try {
        if (skips("check-first")) sessions.load(session);
        taken = check(message);
      } catch (error) {
        return errored(error);
      }
      return await inLane(session, async () => {
        try {
          const state = sessions.load(session);
          const waiting = Object.entries<Json>(stored.paused).find(
            ([, each]) => each.isWaiting && each.signal === message.content,
          );
          if (skips("never-signal") && waiting) return await resume(waiting[0], {});
          state.messages = [...state.messages, taken];
          if (skips("messages-only")) state.note = "touched";
          counts.runs += 1;
          const tail = state.messages.length;
          const turn = await run(session, randomUUID(), Object.assign(state, scriptOf(taken)), tail, tail);
          if (skips("later-reply") && turn.outcome === "completed" && lastResumed.has(session)) {
            turn.replies.unshift(...lastResumed.get(session));
            lastResumed.delete(session);
          }
          return turn;
        } catch (error) {
          return errored(error);
        }
      });
    };
    const lastResumed = new Map<string, Json>();

    const resume = async (id: string, payload: Json): Promise<Json> => {
      const paused = stored.paused[id];
      if (!paused.isWaiting && !skips("once")) return { outcome: "already_resolved" };
      const declared = { ...defaults, ...outside };
      const wrong = Object.entries(payload).some(
        ([name, value]) => !(name in declared) || typeof value !== typeof declared[name],
      );
      if (wrong && !skips("payload")) {
        if (skips("still-waits")) paused.isWaiting = false;
        return errored(new Thrown("suspension_resume_payload_invalid", "the payload does not fit"));
      }
      paused.isWaiting = false;
      const state = copy(paused.state);
      const pausedLength: number = paused.length;
      const session = stored.sessions[paused.session]?.state.messages ?? [];
      if (!skips("rebase")) state.messages = copy(session);
      if (skips("merges-again")) state.messages = [...copy(session), ...paused.state.messages];
      for (const [name, value] of Object.entries(payload))
        state[name] = skips("overlay") && Array.isArray(value) ? reduce(name, state[name], value) : value;
      if (skips("no-rerun")) {
        counts.runs += 1;
        state.cursor = 0;
        state.list = [...state.list, ...state.list];
      }
      const from = state.messages.length;
      state.isResumed = true;
      const earlier = paused.added ?? [];
      const turn = await run(
        paused.session,
        id,
        state,
        skips("pending-twice") ? from - (pausedLength - paused.tail) : from,
        from,
      );
      const isPaused = turn.outcome === "suspended";
      if (isPaused && stored.paused[id]) stored.paused[id].added = [...earlier, ...turn.pending_messages];
      if (turn.outcome === "completed" && !skips("whole-tail")) turn.replies = [...earlier, ...turn.replies];
      if (!isPaused || skips("told-at-end")) tell(paused.session, turn);
      if (turn.outcome === "completed") lastResumed.set(paused.session, turn.replies);
      sessions.write();
      return { outcome: "resumed", turn };
    };
    const methods: Record<string, (params: Json) => Promise<Json>> = {
      async create({ graph }) {
        if ((graph === "no-messages" || graph === "last-message") && !skips(graph))
          throw new Thrown("messages_field_invalid", "the graph has no history");
        const category = broken[graph];
        if (category !== undefined && !skips(category)) throw new Thrown(category, "it does not compile");
        if (graph === "ambiguous" && !skips("ambiguous"))
          throw new Thrown("session_state_migration_chain_ambiguous", "two migrations");
        graphName = graph;
        sessions.version = graph === "versioned" ? "3" : "";
      },
      send: ({ session_id, message }) => send(session_id, message),
      async signal({ signal_id, invocation_id, payload = {} }) {
        if (skips("by-invocation") && invocation_id)
          return errored(new Thrown("harness_signal_correlation_failed", "no"));
        const all = Object.entries<Json>(stored.paused);
        const found = invocation_id
          ? all.find(([id]) => id === invocation_id)
          : (all.find(([, each]) => each.signal === signal_id && each.isWaiting) ??
            all.find(([, each]) => each.signal === signal_id));
        if (!found) {
          if (skips("correlation")) return { outcome: "already_resolved" };
          return errored(new Thrown("harness_signal_correlation_failed", "nothing waits for it"));
        }
        return await inLane(found[1].session, () => resume(found[0], payload));
      },
      async subscribe({ session_id, fails = false }) {
        const subscription = `sub-${listeners.size + 1}`;
        listeners.set(subscription, { session: session_id, fails });
        return { subscription };
      },
      unsubscribe: async ({ subscription }) => void (skips("unsubscribe") || listeners.delete(subscription)),
      sessions: async () => ({
        sessions: Object.values<Json>(stored.sessions).map(({ state, ...summary }) =>
          skips("summary") ? { ...summary, state } : summary,
        ),
      }),
      session: async ({ session_id }) => ({
        record: stored.sessions[session_id] ?? (skips("null-record") ? { state: {} } : null),
      }),
      async seed({ session_id, state, schema_version = "" }) {
        stored.sessions[session_id] = { session_id, state, schema_version };
        sessions.write();
      },
      async forget({ session_id }) {
        if (skips("forgets")) return;
        if (skips("idempotent") && !(session_id in stored.sessions))
          throw new Thrown("unknown", "unknown session");
        delete stored.sessions[session_id];
        sessions.write();
      },
      fault: async ({ at }) => void faults.add(at),
      async counts() {
        const since = { ...counts };
        Object.assign(counts, { loads: 0, saves: 0, runs: 0 });
        return since;
      },
    };
    return {
      async call(method, params: Json) {
        const result = (await methods[method]?.(params)) ?? {};
        return deviation.gives ? deviation.gives(result, method, params) : result;
      },
      close: async () => {},
    };
  };
