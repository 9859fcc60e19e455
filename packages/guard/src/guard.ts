import {
  answerHook,
  deadlineMs,
  failClosed,
  findHost,
  type HookAnswer,
  type HookCall,
  HookError,
  type Host,
  readHook,
  skipHostPromptField,
} from "@harnesskit/agent-hooks";
import { type AhpEvent, type Decision, DecisionSchema } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap, BoundedSet, type Clock, callSafely, systemClock, wait } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import {
  activeTrace,
  decided,
  decisionSpan,
  readTraceContext,
  type Span,
  traced,
} from "@harnesskit/wire/trace";
import { ApprovedCalls } from "./approved-calls.ts";
import { type GuardHarness, HarnessLine } from "./harness-line.ts";
import { type GuardLimits, guardLimits } from "./limits.ts";
import { ModifiedCalls } from "./modified-calls.ts";
import { checkGuardOptions } from "./option-names.ts";
import { terminalTarget } from "./proxy/rulings.ts";

export interface GuardOptions {
  /** The harness that decides. */
  readonly harness: GuardHarness;
  /** The version of this program, which the harness gets in the handshake. */
  readonly version: string;
  /** @default see each limit of `guardLimits` */
  readonly limits?: Partial<GuardLimits> | undefined;
  /** Receives failures of the harness that a host is answered with a refusal. For a log. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** One call of a hook, as its program or an HTTP request brings it. */
export interface HookRequest {
  /** The id of the host, such as "codex". */
  readonly host: string;
  /** What the host wrote. */
  readonly input: string;
  /** The host's name of the event, for hosts whose input does not have it. @default undefined */
  readonly event?: string | undefined;
  /** The directory in which the host started the hook: the workspace of a session whose first hook it is. @default undefined, not known */
  readonly cwd?: string | undefined;
  /** How long the host waits, in milliseconds. @default the host's own default */
  readonly timeoutMs?: number | undefined;
  /** What an edit would change, as a unified diff, for the human who is asked about it. @default the harness gets none */
  readonly preview?: string | undefined;
  /** W3C Trace Context as the host passed it: `{ traceparent, tracestate }`. One that is malformed is ignored. @default none */
  readonly trace?: unknown;
}

/** Answers the hooks of coding agents by the decisions of one harness. */
export interface Guard {
  /**
   * The answer to one call, at the latest two seconds before the host stops waiting. An escalation is held until then: `defer` is asked
   * again after its time while there is time left. Never rejects: what cannot be read or decided is a refusal with the reason.
   */
  answer(request: HookRequest, signal: AbortSignal): Promise<HookAnswer>;
  /** Hooks that are answered now. */
  readonly pending: number;
}

/** The guard answers before the hook's program gives up, so that its reason arrives. */
const answerMarginMs = 1000;

const unknownHost = (reason: string): HookAnswer => ({
  exitCode: 2,
  stdout: "",
  stderr: `harness guard: ${reason}\n`,
  effect: "block",
  reason,
});

/** An answer always has an object: an empty one decides nothing, and differs from a hook that failed. */
const withObject = (answer: HookAnswer): HookAnswer =>
  answer.exitCode === 0 && answer.stdout === "" ? { ...answer, stdout: "{}" } : answer;

/** An event that is judged elsewhere. */
const neutral: HookAnswer = { exitCode: 0, stdout: "{}", stderr: "", effect: "none" };

/** The decision that answers in the place of the host's user. */
const approval = { decision: "allow", metadata: { [skipHostPromptField]: true } };

const isApproval = (decision: Decision): boolean =>
  decision.decision === "allow" && decision.metadata?.[skipHostPromptField] === true;

const readDecision = (value: unknown): Decision | undefined => {
  const parsed = DecisionSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
};

class HookGuard implements Guard {
  readonly #line: HarnessLine;
  readonly #limits: GuardLimits;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  /** Where the sessions started: a host may start later hooks in a directory that its model has chosen. */
  readonly #workspaces: BoundedMap<string, string>;
  readonly #modified: ModifiedCalls;
  readonly #approved: ApprovedCalls;
  /** Sessions whose host runs hooks of its own settings: those of another host's settings are passed over in them. */
  readonly #ownHooks: BoundedSet<string>;
  #pending = 0;

  constructor({ harness, version, limits, onError, clock = systemClock }: GuardOptions) {
    this.#limits = guardLimits.resolve(limits);
    this.#line = new HarnessLine(harness, version, this.#limits.maxSessions);
    this.#onError = (error) => callSafely(() => onError?.(error));
    this.#clock = clock;
    this.#workspaces = new BoundedMap({ maxSize: this.#limits.maxSessions });
    this.#modified = new ModifiedCalls(this.#limits.maxSessions);
    this.#approved = new ApprovedCalls(this.#limits.maxSessions);
    this.#ownHooks = new BoundedSet({ maxSize: this.#limits.maxSessions });
  }

  get pending(): number {
    return this.#pending;
  }

  async answer(request: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
    let host: Host;
    try {
      host = findHost(request.host);
    } catch (error) {
      return unknownHost(error instanceof Error ? error.message : "unknown host");
    }
    if (this.#pending >= this.#limits.maxHooks) {
      return failClosed(host, `the guard is full: it answers ${this.#limits.maxHooks} hooks already`);
    }
    this.#pending++;
    try {
      return withObject(await this.#answer(host, request, signal));
    } catch (error) {
      if (!HookError.isInstance(error)) this.#onError(error);
      return failClosed(host, HookError.isInstance(error) ? error.message : "the guard failed");
    } finally {
      this.#pending--;
    }
  }

  async #answer(host: Host, request: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
    const { cwd, event, timeoutMs = host.timing.defaultMs } = request;
    const keyOf = (session: string) => JSON.stringify([host.id, session]);
    const call = readHook(host, request.input, {
      event,
      workspace: (session) => this.#workspaces.get(keyOf(session)) ?? cwd,
      clock: this.#clock,
    });
    const hostSession = JSON.stringify([call.host.id, call.session]);
    if (call.host === call.settingsHost) this.#ownHooks.add(hostSession);
    else if (this.#ownHooks.has(hostSession)) return neutral;
    if (!call.event || !call.rule) return answerHook(call);
    if (call.rule.asksUser) {
      return answerHook(call, this.#approved.take(call) ? approval : { decision: "allow" });
    }
    const session = keyOf(call.event.session_id);
    const isStart = call.rule.ahp === "session_start" || !this.#workspaces.has(session);
    if (isStart && cwd !== undefined) this.#workspaces.set(session, cwd);
    const allMs = deadlineMs(host, timeoutMs);
    const timeLeft = Math.max(allMs - answerMarginMs, Math.floor(allMs / 2));
    const isGate = call.rule.ahp === "pre_action" || call.rule.ahp === "pre_prompt";
    if (!isGate) return this.#report(call, timeLeft, signal);
    const { event_type: eventType, session_id: sessionId, payload } = call.event;
    const start = () => {
      const span = decisionSpan("guard", { eventType, sessionId, input: payload });
      const attributes = { ...span.attributes, "harness.hook.host": host.id };
      return { ...span, attributes, parent: readTraceContext(request.trace) };
    };
    return traced(start, (span) => this.#gate(call, request.preview, timeLeft, signal, span));
  }

  /** What has happened is reported, and the host goes on whatever comes of that. */
  async #report(call: HookCall, timeoutMs: number, signal: AbortSignal): Promise<HookAnswer> {
    const event = this.#modified.restore(call.event as AhpEvent);
    if (event.event_type === "post_action") this.#approved.ended(call);
    await this.#send(call.host, event, timeoutMs, signal);
    return answerHook(call);
  }

  async #send(host: Host, event: AhpEvent, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const sent = await settleWithin((inner) => this.#line.report(host, event, inner), {
      name: "the report of a hook",
      timeoutMs,
      signal,
      clock: this.#clock,
    });
    if (sent.status === "failed") this.#onError(sent.error);
  }

  async #gate(
    call: HookCall,
    preview: string | undefined,
    timeoutMs: number,
    signal: AbortSignal,
    span: Span | undefined,
  ): Promise<HookAnswer> {
    const dueAtMs = this.#clock.elapsedMs() + timeoutMs;
    const event = call.event as AhpEvent;
    const shown = preview === undefined || call.rule?.ahp !== "pre_action" ? {} : { preview };
    for (;;) {
      const leftMs = dueAtMs - this.#clock.elapsedMs();
      const waits = { wait_ms: leftMs, host_asks: call.rule?.asks === true };
      const asked = { ...event, metadata: { ...event.metadata, ...shown, ...waits, ...activeTrace() } };
      const answered = await settleWithin((inner) => this.#line.ask(call.host, asked, inner), {
        name: "the decision of a hook",
        timeoutMs: leftMs,
        signal,
        clock: this.#clock,
      });
      if (answered.status !== "done") {
        span?.fail(answered.status);
        if (answered.status === "failed") this.#onError(answered.error);
        return this.#refuse(call, why[answered.status]);
      }
      if ("failure" in answered.value)
        return this.#refuse(call, `the harness refused: ${answered.value.failure}`);
      const decision = readDecision(answered.value.decision);
      if (!decision) return this.#refuse(call, "the harness's decision is not valid");
      const retryMs = decision.decision === "defer" ? Math.max(1, decision.retry_after_ms) : 0;
      if (decision.decision !== "defer" || this.#clock.elapsedMs() + retryMs >= dueAtMs) {
        span?.set(decided(decision.decision));
        const asks = decision.decision === "escalate" && decision.escalation_target === terminalTarget;
        this.#modified.note(event, decision);
        this.#approved.judged(call, isApproval(decision));
        const answer = answerHook(call, decision, asks ? { escalate: "ask" } : {});
        // The harness let it pass, with a change that this host cannot make.
        const isUnusable = decision.decision === "allow" || decision.decision === "modify";
        if (isUnusable && answer.effect === "block" && event.event_type === "pre_action") {
          const leftMs = Math.max(1, dueAtMs - this.#clock.elapsedMs());
          await this.#send(call.host, refusedEvent(event, answer.reason ?? ""), leftMs, signal);
        }
        return answer;
      }
      await wait(retryMs, this.#clock, signal);
    }
  }

  #refuse(call: HookCall, reason: string): HookAnswer {
    return answerHook(call, { decision: "block", reason });
  }
}

/** The outcome of an action that the guard has refused after its harness has let it pass. */
const refusedEvent = (event: AhpEvent, reason: string): AhpEvent => ({
  ...event,
  event_type: "post_action",
  payload: { ...(event.payload as JsonObject), outcome: "refused", error: reason },
});

const why = {
  failed: "the harness failed",
  timed_out: "no decision in time. Repeat the same call later",
  cancelled: "the hook was cancelled",
} as const;

/** Creates a guard. Throws `invalid_argument` for a limit out of range. */
export const createGuard = (options: GuardOptions): Guard => new HookGuard(checkGuardOptions(options));
