import type { ChartModel, TableModel } from "@harnesskit/shell-client/cards";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { axisText, createScale, type Scale } from "./chart-scale.ts";
import { TableCard } from "./table-card.tsx";

const minWidth = 240;
const height = 260;
const plot = { left: 60, right: 12, top: 12, bottom: 34 } as const;
const innerHeight = height - plot.top - plot.bottom;
const maxLabelLength = 11;

interface Geometry {
  readonly chart: ChartModel;
  /** Of the whole drawing, in pixels: texts keep their size in a narrow window. */
  readonly width: number;
  /** Of one point. */
  readonly slot: number;
  readonly y: (value: number) => number;
}

const plotGeometry = (chart: ChartModel, scale: Scale, width: number): Geometry => ({
  chart,
  width,
  slot: (width - plot.left - plot.right) / Math.max(1, chart.labels.length),
  y: (value) => plot.top + ((scale.max - value) / (scale.max - scale.min)) * innerHeight,
});

const centre = ({ slot }: Geometry, index: number): number => plot.left + slot * (index + 0.5);

function Bars(geometry: Geometry) {
  const { chart, slot, y } = geometry;
  const barWidth = Math.max(1, Math.min(48, (slot * 0.72) / chart.series.length));
  const zero = y(0);
  return (
    <>
      {chart.series.map(({ values }, number) =>
        values.map((value, index) => {
          if (value === undefined) return null;
          const x = centre(geometry, index) + (number - chart.series.length / 2) * barWidth;
          const size = Math.max(1, Math.abs(y(value) - zero));
          return (
            <rect
              class={`series-${number}`}
              x={x}
              y={value < 0 ? zero : zero - size}
              width={Math.max(1, barWidth - 1.5)}
              height={size}
              rx={Math.min(2, barWidth / 4)}
            />
          );
        }),
      )}
    </>
  );
}

/** Lines between neighbours: a value that is missing leaves a gap. */
function Lines(geometry: Geometry) {
  const { chart, y } = geometry;
  const pointsOf = (values: readonly (number | undefined)[]) =>
    values.flatMap((value, index) =>
      value === undefined ? [] : [{ index, x: centre(geometry, index), y: y(value) }],
    );
  return (
    <>
      {chart.series.map(({ values }, number) => {
        const points = pointsOf(values);
        const path = points
          .map(
            (point, at) =>
              `${at > 0 && points[at - 1]?.index === point.index - 1 ? "L" : "M"}${point.x} ${point.y}`,
          )
          .join("");
        return (
          <g class={`series-${number}`}>
            <path class="line" d={path} />
            {points.map((point) => (
              <circle cx={point.x} cy={point.y} r={3.5} />
            ))}
          </g>
        );
      })}
    </>
  );
}

const shortLabel = (label: string): string =>
  label.length > maxLabelLength ? `${label.slice(0, maxLabelLength - 1)}…` : label;

function Axes(geometry: Geometry & { readonly scale: Scale }) {
  const { chart, width, scale, slot, y } = geometry;
  const every = Math.max(1, Math.ceil(74 / slot));
  return (
    <g class="axis">
      {scale.ticks.map((tick) => (
        <>
          <line
            class={tick === 0 ? "zero" : ""}
            x1={plot.left}
            x2={width - plot.right}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text x={plot.left - 8} y={y(tick)} text-anchor="end" dominant-baseline="middle">
            {axisText(tick)}
          </text>
        </>
      ))}
      {chart.labels.map((label, index) =>
        index % every === 0 ? (
          <text x={centre(geometry, index)} y={height - 12} text-anchor="middle">
            {shortLabel(label)}
          </text>
        ) : null,
      )}
    </g>
  );
}

const figuresOf = ({ labels, series }: ChartModel): TableModel => ({
  columns: [
    { label: "", isNumeric: false },
    ...series.map(({ name }) => ({ label: name || "value", isNumeric: true })),
  ],
  rows: labels.map((label, index) => [
    label,
    ...series.map(({ values }) => values[index]?.toLocaleString("en-US") ?? ""),
  ]),
  hiddenRows: 0,
  hiddenColumns: 0,
});

const chartLabel = ({ kind, labels, series, unit }: ChartModel, label: string): string =>
  `${label}: ${kind === "bar" ? "bar chart" : "line chart"} of ${labels.length} points` +
  `${series.length > 1 ? ` in ${series.length} series` : ""}${unit === undefined ? "" : `, in ${unit}`}`;

/** How wide an element is, now and whenever that changes. */
const useWidth = () => {
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = () => setWidth(Math.max(minWidth, Math.round(current.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { element, width };
};

export function ChartCard({ chart, label }: { readonly chart: ChartModel; readonly label: string }) {
  const scale = createScale(chart.range);
  const { element, width } = useWidth();
  const geometry = plotGeometry(chart, scale, width);
  const hidden = chart.hiddenPoints + chart.hiddenSeries > 0;
  return (
    <figure class="chart" ref={element}>
      {chart.unit !== undefined && <p class="hint">in {chart.unit}</p>}
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={chartLabel(chart, label)}>
        <Axes {...geometry} scale={scale} />
        {chart.kind === "bar" ? <Bars {...geometry} /> : <Lines {...geometry} />}
      </svg>
      {chart.series.length > 1 && (
        <ul class="legend">
          {chart.series.map(({ name }, number) => (
            <li>
              <span class={`swatch series-${number}`} aria-hidden="true" />
              {name}
            </li>
          ))}
        </ul>
      )}
      {hidden && (
        <p class="hint">
          Not shown: {chart.hiddenPoints} more points, {chart.hiddenSeries} more series.
        </p>
      )}
      <details>
        <summary>Figures</summary>
        <TableCard table={figuresOf(chart)} label={`${label}, figures`} />
      </details>
    </figure>
  );
}
