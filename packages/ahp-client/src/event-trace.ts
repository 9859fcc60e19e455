import type { AhpEventType, BlockingEventType, DecisionFor } from "@harnesskit/protocol/ahp";
import { activeTrace, decided, decisionSpan, type Span, traced } from "@harnesskit/wire/trace";
import type { BatchEvent, EventFields } from "./events.ts";
import type { Verdict } from "./judge.ts";

/** The tool that a payload names, as most do. */
const namedTool = (payload: unknown): string | undefined => {
  const { tool_name: tool } = (payload ?? {}) as { readonly tool_name?: unknown };
  return typeof tool === "string" ? tool : undefined;
};

/** Fields of an event, whose metadata carries the trace context of the active span, if there is one. */
export const withTrace = (fields: EventFields | undefined): EventFields | undefined => {
  const trace = activeTrace();
  return trace === undefined ? fields : { ...fields, metadata: { ...fields?.metadata, ...trace } };
};

/** {@link withTrace} for the events of a batch. */
export const withTraces = (events: readonly BatchEvent[]): readonly BatchEvent[] => {
  const trace = activeTrace();
  if (trace === undefined) return events;
  return events.map((event) => ({ ...event, metadata: { ...event.metadata, ...trace } }));
};

/** What is asked of a harness. */
interface Asked {
  readonly eventType: AhpEventType;
  readonly sessionId: string;
  readonly agentId: string;
  readonly input: unknown;
}

/** Asks a harness in a span, where something observes. */
export const tracedQuestion = <T extends BlockingEventType>(
  asked: Asked,
  decide: () => Promise<Verdict<DecisionFor<T>>>,
): Promise<Verdict<DecisionFor<T>>> =>
  traced(
    () => decisionSpan("client", { ...asked, tool: namedTool(asked.input) }),
    (span) => (span === undefined ? decide() : recordVerdict(span, decide())),
  );

const recordVerdict = async <D>(span: Span, deciding: Promise<Verdict<D>>): Promise<Verdict<D>> => {
  const verdict = await deciding;
  const { decision } = verdict.decision as { readonly decision: string };
  span.set(decided(decision));
  if (verdict.origin === "client") span.fail(verdict.code);
  return verdict;
};
