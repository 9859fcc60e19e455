import { type Attributes, type Histogram, metrics, ValueType } from "@opentelemetry/api";

/** The histograms of durations, in seconds, each with the attributes of its spans that it has, too: few values each. */
export const durationMetrics: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.client.operation.duration": [
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "error.type",
  ],
  "mcp.client.operation.duration": ["mcp.method.name", "gen_ai.tool.name", "error.type"],
  "harness.client.turn.duration": ["gen_ai.agent.name", "error.type"],
  "harness.turn.duration": [
    "gen_ai.agent.name",
    "harness.turn.status",
    "harness.turn.is_resumed",
    "error.type",
  ],
  "harness.tool.duration": ["gen_ai.tool.name", "harness.call.status", "error.type"],
  "harness.core.call.duration": ["gen_ai.tool.name", "harness.call.status", "error.type"],
  "harness.agent.call.duration": ["gen_ai.tool.name", "harness.call.status", "error.type"],
  "harness.decision.duration": [
    "harness.decision.event_type",
    "harness.decision.outcome",
    "harness.decision.by",
    "error.type",
  ],
  "harness.approval.duration": ["harness.approval.tool", "harness.approval.answer", "harness.approval.risk"],
  "harness.approval.answer.duration": ["harness.approval.answer", "error.type"],
  "harness.chat.turn.duration": ["harness.chat.path", "harness.chat.outcome", "openarmature.error.category"],
  "harness.graph.invocation.duration": ["openarmature.outcome", "openarmature.error.category"],
  "harness.graph.node.duration": [
    "openarmature.node.name",
    "openarmature.outcome",
    "openarmature.error.category",
  ],
  "harness.shell.request.duration": ["harness.shell.status", "error.type"],
};

/** Tokens of one call of a model, by the attributes that have them. */
const tokenUsage = "gen_ai.client.token.usage";
const tokenTypes = [
  ["input", "gen_ai.usage.input_tokens"],
  ["output", "gen_ai.usage.output_tokens"],
  // A part of the input, which the conventions have as an attribute of spans alone.
  ["cache_read", "gen_ai.usage.cache_read.input_tokens"],
] as const;

/** Seconds: as the GenAI conventions say, and on to a day for what waits for a human. */
const durationBoundaries = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 3600,
  14400, 86400,
];
const tokenBoundaries = [
  1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
];

/** Records the durations of spans, and the tokens of models, with the SDK that is registered now. */
export const recordMetrics = (): ((metric: string, attributes: Attributes, seconds: number) => void) => {
  const meter = metrics.getMeter("harnesskit");
  const histograms = new Map<string, Histogram>();
  /** Each is made when it is first needed. */
  const histogram = (name: string): Histogram => {
    const known = histograms.get(name);
    if (known !== undefined) return known;
    const isTokens = name === tokenUsage;
    const made = meter.createHistogram(name, {
      unit: isTokens ? "{token}" : "s",
      valueType: isTokens ? ValueType.INT : ValueType.DOUBLE,
      advice: { explicitBucketBoundaries: isTokens ? tokenBoundaries : durationBoundaries },
    });
    histograms.set(name, made);
    return made;
  };
  return (metric, attributes, seconds) => {
    const names = (durationMetrics[metric] ?? []).filter((name) => attributes[name] !== undefined);
    const kept = Object.fromEntries(names.map((name) => [name, attributes[name]]));
    histogram(metric).record(seconds, kept);
    for (const [type, attribute] of tokenTypes) {
      const tokens = attributes[attribute];
      if (metric !== "gen_ai.client.operation.duration" || typeof tokens !== "number") continue;
      histogram(tokenUsage).record(tokens, { ...kept, "gen_ai.token.type": type });
    }
  };
};
