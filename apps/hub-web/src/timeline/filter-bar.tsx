import { decisionWords } from "@harnesskit/timeline";
import { useEffect, useRef, useState } from "preact/hooks";
import { line } from "../format.ts";
import { useKey } from "../keys.ts";
import { Button, Select } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import type { TimelineFilter } from "../state/route.ts";
import { ExportMenu } from "./export-menu.tsx";
import { TimeFilter } from "./time-filter.tsx";

const typingMs = 250;

interface FilterBarProps {
  readonly filter: TimelineFilter;
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly onChange: (filter: TimelineFilter) => void;
  /** Shows what happened at a time. */
  readonly onJump: (atMs: number) => void;
}

interface SearchFieldProps {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

/** A string that changes some time after the last key. */
function SearchField({ value, onSearch }: SearchFieldProps) {
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
  /** What can be chosen, with its words. */
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string | undefined) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const isListed = value === undefined || options.some(([each]) => each === value);
  return (
    <Select
      label={label}
      className={`filter ${value === undefined ? "" : "set"}`}
      value={value ?? ""}
      options={[["", label], ...options, ...(isListed ? [] : [[value, line(value, 60)] as const])]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  );
}

const decisionOptions = [...decisionWords];
const asOptions = (names: readonly string[]) => names.map((name) => [name, line(name, 60)] as const);

/** The filter without what is absent or empty: an address names what is set. */
const cleaned = (filter: { readonly [Name in keyof TimelineFilter]: TimelineFilter[Name] | undefined }) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value)) as TimelineFilter;

export function FilterBar({ filter, agents, tools, onChange, onJump }: FilterBarProps) {
  const { agent, tool, decision, session, failed, text } = filter;
  const set = (name: keyof TimelineFilter) => (value: string | undefined) =>
    onChange(cleaned({ ...filter, [name]: value }));
  const toggleFailed = () => onChange(cleaned({ ...filter, failed: !failed }));
  useKey("f", toggleFailed);
  return (
    <search class="filters" aria-label="Filter the timeline">
      <SearchField value={text ?? ""} onSearch={set("text")} />
      <Choice label="Agent" value={agent} options={asOptions(agents)} onChange={set("agent")} />
      <Choice label="Tool" value={tool} options={asOptions(tools)} onChange={set("tool")} />
      <Choice label="Decision" value={decision} options={decisionOptions} onChange={set("decision")} />
      <Button
        look={`compact toggle ${failed ? "set" : ""}`}
        aria-pressed={failed === true}
        onClick={toggleFailed}
      >
        Failed only
      </Button>
      <TimeFilter filter={filter} onChange={(time) => onChange(cleaned(time))} onJump={onJump} />
      <ExportMenu filter={filter} />
      {session !== undefined && (
        <Button look="compact toggle set" icon="close" onClick={() => set("session")(undefined)}>
          <span class="clip">Session {line(session, 30)}</span>
          <span class="hidden">: show all sessions</span>
        </Button>
      )}
    </search>
  );
}
