import { useId, useState } from "preact/hooks";
import { formatMoment } from "../format.ts";
import { Menu } from "../parts/menu.tsx";
import type { TimelineFilter } from "../state/route.ts";

interface TimeFieldProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A time of ISO 8601 as a field of local time has it. */
const toLocal = (value: string | undefined): string => {
  if (value === undefined) return "";
  const at = new Date(value);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

function TimeField({ label, value, onChange }: TimeFieldProps) {
  const id = useId();
  return (
    <p>
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        value={toLocal(value)}
        onChange={({ currentTarget }) => {
          const at = new Date(currentTarget.value);
          onChange(Number.isNaN(at.getTime()) ? undefined : at.toISOString());
        }}
      />
    </p>
  );
}

const hourMs = 3_600_000;
const spans = [
  ["Last hour", hourMs],
  ["Last day", 24 * hourMs],
  ["Last 7 days", 7 * 24 * hourMs],
] as const;

interface TimeFilterProps {
  readonly filter: TimelineFilter;
  readonly onChange: (filter: TimelineFilter) => void;
  readonly onJump: (atMs: number) => void;
}

/** The time that is shown, and a jump to a moment of it. */
export function TimeFilter({ filter: { since, until, ...rest }, onChange, onJump }: TimeFilterProps) {
  const [jump, setJump] = useState<string>();
  const set = (from: string | undefined, to: string | undefined) =>
    onChange({
      ...rest,
      ...(from !== undefined && { since: from }),
      ...(to !== undefined && { until: to }),
    });
  const shown = [
    since === undefined ? "" : `from ${formatMoment(Date.parse(since))}`,
    until === undefined ? "" : `until ${formatMoment(Date.parse(until))}`,
  ].filter((part) => part !== "");
  return (
    <Menu
      label={shown.length === 0 ? "Time" : shown.join(" ")}
      className={`toggle ${shown.length === 0 ? "" : "set"}`}
    >
      <div class="menu-line">
        {spans.map(([label, ms]) => (
          <button
            key={label}
            type="button"
            class="button compact"
            onClick={() => set(new Date(Date.now() - ms).toISOString(), undefined)}
          >
            {label}
          </button>
        ))}
        <button type="button" class="button compact" onClick={() => set(undefined, undefined)}>
          Any time
        </button>
      </div>
      <TimeField label="From" value={since} onChange={(value) => set(value, until)} />
      <TimeField label="Until" value={until} onChange={(value) => set(since, value)} />
      <TimeField label="Jump to" value={jump} onChange={setJump} />
      <button
        type="button"
        class="button compact"
        disabled={jump === undefined}
        onClick={() => jump !== undefined && onJump(Date.parse(jump))}
      >
        Jump
      </button>
    </Menu>
  );
}
