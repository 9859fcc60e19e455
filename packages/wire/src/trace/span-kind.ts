/** Which side of a call a span is, by the numbers of the OpenTelemetry API. */
export const SpanKind = { INTERNAL: 0, SERVER: 1, CLIENT: 2, PRODUCER: 3, CONSUMER: 4 } as const;

export type SpanKind = (typeof SpanKind)[keyof typeof SpanKind];
