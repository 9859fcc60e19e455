import { useEffect, useRef, useState } from "preact/hooks";
import { line } from "../format.ts";
import { useKey } from "../keys.ts";
import { Select } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import type { HubLink } from "../state/hub-link.ts";
import type { TimelineFilter } from "../state/route.ts";
import { ExportMenu } from "./export-menu.tsx";
import { decisionWords } from "./row-state.tsx";
import { TimeFilter } from "./time-filter.tsx";

const typingMs = 250;

interface FilterBarProps {
  readonly filter: TimelineFilter;
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly link: HubLink;
  readonly onChange: (filter: TimelineFilter) => void;
  /** Shows what happened at a time. */
  readonly onJump: (atMs: number) => void;
}

type TextField = Exclude<keyof TimelineFilter, "failed">;

const withField = (filter: TimelineFilter, name: TextField, value: string | undefined): TimelineFilter => {
  const { [name]: _, ...rest } = filter;
  return value === undefined || value === "" ? rest : { ...rest, [name]: value };
};

const withFailed = ({ failed: _, ...rest }: TimelineFilter, isFailed: boolean): TimelineFilter =>
  isFailed ? { ...rest, failed: true } : rest;

/** A string that changes some time after the last key. */
function SearchField({
  value,
  onSearch,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => latest.current(text.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [text, value]);
  useKey("/", () => field.current?.focus());
  return (
    <label class="search">
      <Icon name="search" size={16} />
      <span class="hidden">Search the timeline</span>
      <input
        ref={field}
        class="input"
        type="search"
        placeholder="Search"
        maxLength={200}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string | undefined) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const all =
    value === undefined || options.some(([each]) => each === value)
      ? options
      : [...options, [value, line(value, 60)] as const];
  return (
    <Select
      label={label}
      className={`input filter ${value === undefined ? "" : "set"}`}
      value={value ?? ""}
      options={[["", label], ...all]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  );
}

const asOptions = (names: readonly string[]) => names.map((name) => [name, line(name, 60)] as const);

export function FilterBar({ filter, agents, tools, link, onChange, onJump }: FilterBarProps) {
  const set = (name: TextField) => (value: string | undefined) => onChange(withField(filter, name, value));
  useKey("f", () => onChange(withFailed(filter, !filter.failed)));
  return (
    <search class="filters" aria-label="Filter the timeline">
      <SearchField value={filter.text ?? ""} onSearch={set("text")} />
      <Choice label="Agent" value={filter.agent} options={asOptions(agents)} onChange={set("agent")} />
      <Choice label="Tool" value={filter.tool} options={asOptions(tools)} onChange={set("tool")} />
      <Choice
        label="Decision"
        value={filter.decision}
        options={Object.entries(decisionWords)}
        onChange={set("decision")}
      />
      <button
        type="button"
        class={`button compact toggle ${filter.failed ? "set" : ""}`}
        aria-pressed={filter.failed === true}
        onClick={() => onChange(withFailed(filter, !filter.failed))}
      >
        Failed only
      </button>
      <TimeFilter filter={filter} onChange={onChange} onJump={onJump} />
      <ExportMenu filter={filter} link={link} />
      {(["session", "turn"] as const).map(
        (name) =>
          filter[name] !== undefined && (
            <button
              key={name}
              type="button"
              class="button compact toggle set"
              onClick={() => set(name)(undefined)}
            >
              <span class="clip">
                {name === "session" ? "Session" : "Turn"} {line(filter[name], 30)}
              </span>
              <Icon name="close" size={12} />
              <span class="hidden">: show all {name}s</span>
            </button>
          ),
      )}
    </search>
  );
}
