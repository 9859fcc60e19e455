import { readFileSync, writeFileSync } from "node:fs";

const colours = ["#2f6f9f", "#8a5a9e", "#3f8f5f", "#b0752a", "#a04848", "#4f6f7f"];
const rowHeight = 24;
const labelWidth = 430;
const width = 1180;

const toXml = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const readValue = ({ value = {} }) => Object.values(value)[0];

/** The spans of a file of OTLP requests. */
const readSpans = (file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => JSON.parse(line).resourceSpans ?? [])
    .flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes.find(({ key }) => key === "service.name");
      return scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          service: readValue(service),
          fromMs: Number(span.startTimeUnixNano) / 1e6,
          toMs: Number(span.endTimeUnixNano) / 1e6,
          attributes: Object.fromEntries(span.attributes.map((each) => [each.key, readValue(each)])),
        })),
      );
    });

/** Spans as a tree, each with its depth; parents first, in the order of their starts. */
const inOrder = (spans) => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const sorted = [...spans].sort((one, other) => one.fromMs - other.fromMs);
  const below = (parent, depth) =>
    sorted
      .filter(({ parentSpanId = "" }) => (ids.has(parentSpanId) ? parentSpanId : "") === parent)
      .flatMap((span) => [{ ...span, depth }, ...below(span.spanId, depth + 1)]);
  return below("", 0);
};

const duration = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(1)} ms`);

/**
 * Time without the start or end of a span is drawn short: the gaps of a scale that would hide all but the longest wait. Returns the
 * place of a time from 0 to 1, and the gaps.
 */
const scaleOf = (spans) => {
  const times = [...new Set(spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].sort((a, b) => a - b);
  const steps = times.slice(1).map((time, index) => time - times[index]);
  const weights = steps.map((step) => Math.log1p(step / 2) + 0.15);
  const sum = weights.reduce((total, weight) => total + weight, 0) || 1;
  const places = new Map([[times[0], 0]]);
  let place = 0;
  for (const [index, weight] of weights.entries()) {
    place += weight / sum;
    places.set(times[index + 1], place);
  }
  return (time) => places.get(time) ?? 0;
};

/** Draws the spans of a file, one row each, with links as dashed lines. */
export const drawTraces = (file, write) => {
  const rows = inOrder(readSpans(file));
  const services = [...new Set(rows.map(({ service }) => service))];
  const colour = (service) => colours[services.indexOf(service) % colours.length];
  const scale = scaleOf(rows);
  const x = (time) => labelWidth + scale(time) * (width - labelWidth - 100);
  const top = 62;
  const y = (index) => top + index * rowHeight;
  const lines = [];
  const links = [];
  const legend = services.map(
    (service, index) =>
      `<rect x="${14 + index * 170}" y="32" width="12" height="12" rx="2" fill="${colour(service)}"/>` +
      `<text x="${32 + index * 170}" y="42">${toXml(service)}</text>`,
  );
  for (const [index, row] of rows.entries()) {
    const [from, to] = [x(row.fromMs), Math.max(x(row.toMs), x(row.fromMs) + 2)];
    const dashed = row.name.startsWith("harness.approval ") ? ' stroke="#222" stroke-dasharray="4 3"' : "";
    const failed = row.status?.code === 2 ? " ✗" : "";
    const outcome =
      row.attributes["harness.approval.answer"] ?? row.attributes["harness.decision.outcome"] ?? "";
    lines.push(
      index % 2 === 0
        ? `<rect x="0" y="${y(index) - 4}" width="${width}" height="${rowHeight}" fill="#f6f7f8"/>`
        : "",
      `<text x="${14 + row.depth * 16}" y="${y(index) + 12}">${toXml(`${row.name}${failed}`.slice(0, 56))}</text>`,
      `<rect x="${from}" y="${y(index) + 1}" width="${to - from}" height="14" rx="2" fill="${colour(row.service)}"${dashed}/>`,
      `<text x="${to + 5}" y="${y(index) + 12}" class="time">${duration(row.toMs - row.fromMs)} ${toXml(outcome)}</text>`,
    );
    for (const link of row.links ?? []) {
      const target = rows.findIndex(({ spanId }) => spanId === link.spanId);
      if (target < 0) continue;
      const at = x(rows[target].fromMs);
      links.push(
        `<path d="M ${to} ${y(index) + 8} C ${to + 40} ${y(index) + 8}, ${at + 40} ${y(target) + 8}, ${at} ${y(target) + 8}" fill="none" stroke="#c33" stroke-width="1.3" stroke-dasharray="3 3"/>`,
      );
    }
  }
  const height = y(rows.length) + 14;
  write(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">` +
      `<title>Spans of ${services.length} processes</title><style>.time{fill:#555;font-size:11px}</style><rect width="100%" height="100%" fill="#fff"/>` +
      `<text x="14" y="20" font-weight="600">${rows.length} spans, ${services.length} processes. Waits are drawn short; dashed red lines are links.</text>` +
      `${legend.join("")}${lines.join("")}${links.join("")}</svg>\n`,
  );
  return { traces: new Set(rows.map(({ traceId }) => traceId)).size, services };
};

if (process.argv[1] === import.meta.filename) {
  const [file, picture] = process.argv.slice(2);
  drawTraces(file, (svg) => writeFileSync(picture, svg));
}
