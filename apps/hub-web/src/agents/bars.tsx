/** One bar: its parts from the ground up, and what it says. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly { readonly tone: string; readonly value: number }[];
}

interface BarsProps {
  readonly title: string;
  /** What all bars say together. */
  readonly summary: string;
  readonly bars: readonly Bar[];
  /** The value of a full bar. @default that of the highest one */
  readonly max?: number;
}

const height = 60;
const step = 10;

const sumOf = ({ parts }: Bar): number => parts.reduce((sum, { value }) => sum + value, 0);

/** A small chart of bars over time. */
export function Bars({ title, summary, bars, max = Math.max(1, ...bars.map(sumOf)) }: BarsProps) {
  return (
    <figure class="panel bars">
      <figcaption>
        <strong>{title}</strong> <span class="dim small">{summary}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${title}: ${summary}`}
        viewBox={`0 0 ${Math.max(1, bars.length) * step} ${height}`}
        preserveAspectRatio="none"
      >
        {bars.map((bar, index) => {
          let top = height;
          return (
            <g key={bar.label}>
              <title>{bar.label}</title>
              <rect class="bar-ground" x={index * step} y={0} width={step} height={height} />
              {bar.parts.map(({ tone, value }) => {
                const tall = (height * value) / max;
                top -= tall;
                return (
                  <rect
                    key={tone}
                    class={`bar-${tone}`}
                    x={index * step + 1}
                    y={top}
                    width={step - 2}
                    height={tall}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
