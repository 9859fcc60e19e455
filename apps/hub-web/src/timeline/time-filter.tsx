import { useId, useState } from "preact/hooks";
import { formatMoment } from "../format.ts";
import { Button } from "../parts/controls.tsx";
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
  readonly onChange: (filter: Omit<TimelineFilter, "since" | "until"> & Span) => void;
  readonly onJump: (atMs: number) => void;
}

interface Span {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** The time that is shown, and a jump to a moment of it. */
export function TimeFilter({ filter, onChange, onJump }: TimeFilterProps) {
  const { since, until } = filter;
  const [jump, setJump] = useState<string>();
  const set = (span: Partial<Span>) => onChange({ ...filter, since, until, ...span });
  const shown = Object.entries({ from: since, until }).flatMap(([word, at]) =>
    at === undefined ? [] : `${word} ${formatMoment(Date.parse(at))}`,
  );
  return (
    <Menu label={shown.join(" ") || "Time"} className={`toggle ${shown.length === 0 ? "" : "set"}`}>
      <div class="inline">
        {spans.map(([label, ms]) => (
          <Button
            key={label}
            look="compact"
            onClick={() => set({ since: new Date(Date.now() - ms).toISOString(), until: undefined })}
          >
            {label}
          </Button>
        ))}
        <Button look="compact" onClick={() => set({ since: undefined, until: undefined })}>
          Any time
        </Button>
      </div>
      <TimeField label="From" value={since} onChange={(value) => set({ since: value })} />
      <TimeField label="Until" value={until} onChange={(value) => set({ until: value })} />
      <TimeField label="Jump to" value={jump} onChange={setJump} />
      <Button
        look="compact"
        disabled={jump === undefined}
        onClick={() => jump !== undefined && onJump(Date.parse(jump))}
      >
        Jump
      </Button>
    </Menu>
  );
}
