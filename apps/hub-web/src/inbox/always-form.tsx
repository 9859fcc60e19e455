import {
  type Always,
  type ApprovalRecord,
  type FieldPattern,
  grantProblem,
  grantTerms,
  presentGrant,
  shortestPattern,
} from "@harnesskit/approvals";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { line } from "../format.ts";
import { Select } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { TextList } from "../parts/table.tsx";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const durations: readonly (readonly [number, string])[] = [
  [15 * minuteMs, "15 minutes"],
  [hourMs, "1 hour"],
  [8 * hourMs, "8 hours"],
  [24 * hourMs, "1 day"],
  [7 * 24 * hourMs, "7 days"],
  [30 * 24 * hourMs, "30 days"],
];

type FieldKind = "is" | "startsWith" | "under" | "any";

interface FieldChoice {
  readonly kind: FieldKind;
  readonly text: string;
}

const kindTexts: Readonly<Record<FieldKind, string>> = {
  is: "is exactly this",
  startsWith: "starts with",
  under: "is a path in",
  any: "is anything",
};

const firstWords = (value: string): string =>
  value.split("\n", 1)[0]?.split(" ").slice(0, 2).join(" ") ?? value;
const parentOf = (path: string): string => path.replace(/\/[^/]*$/, "") || path;

/** The text that a kind begins with: where the first words would allow too much, the whole value. */
const startText = (kind: FieldKind, value: unknown, isRefused: (choice: FieldChoice) => boolean): string => {
  if (typeof value !== "string") return "";
  if (kind === "under") return parentOf(value);
  const text = firstWords(value);
  return isRefused({ kind: "startsWith", text }) ? value : text;
};

const patternOf = ({ kind, text }: FieldChoice, value: JsonValue): FieldPattern => {
  if (kind === "any") return { any: true };
  if (kind === "is") return { is: value };
  return kind === "under" ? { under: text } : { startsWith: text };
};

interface FieldRowProps {
  readonly name: string;
  readonly value: unknown;
  readonly choice: FieldChoice;
  readonly isRefused: (choice: FieldChoice) => boolean;
  readonly onChange: (choice: FieldChoice) => void;
}

function FieldRow({ name, value, choice, isRefused, onChange }: FieldRowProps) {
  const kinds: FieldKind[] = typeof value === "string" ? ["is", "startsWith", "under", "any"] : ["is", "any"];
  const shown = line(name, 100);
  return (
    <div class="field-row">
      <code class="clip">{shown}</code>
      <Select
        label={`What ${shown} may be`}
        value={choice.kind}
        options={kinds.map((kind) => [kind, kindTexts[kind]])}
        onChange={(kind) => onChange({ kind, text: startText(kind, value, isRefused) })}
      />
      {choice.kind === "startsWith" || choice.kind === "under" ? (
        <input
          class="input mono"
          aria-label={`${shown} ${kindTexts[choice.kind]}`}
          value={choice.text}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange({ kind: choice.kind, text: currentTarget.value })}
        />
      ) : (
        <span class="dim small clip">
          {choice.kind === "is" ? line(JSON.stringify(value) ?? "", 120) : ""}
        </span>
      )}
    </div>
  );
}

interface AlwaysFormProps {
  readonly record: ApprovalRecord;
  readonly grantMs: number;
  readonly nowMs: number;
  readonly isBusy: boolean;
  /** Whether a grant is for exactly this call, as on a device with a highest risk. */
  readonly isExactOnly: boolean;
  readonly onGive: (always: Always) => void;
  readonly onCancel: () => void;
}

/** Chooses a grant, and shows it whole before it is given. */
export function AlwaysForm({
  record,
  grantMs,
  nowMs,
  isBusy,
  isExactOnly,
  onGive,
  onCancel,
}: AlwaysFormProps) {
  const { input, tool } = record.subject;
  const first = useRef<HTMLInputElement>(null);
  const durationId = useId();
  const [reach, setReach] = useState<Always["reach"]>("session");
  const [isPattern, setPattern] = useState(false);
  const [forMs, setForMs] = useState(Math.min(24 * hourMs, grantMs));
  const offered = durations.filter(([ms]) => ms <= grantMs);
  if (!offered.some(([ms]) => ms === forMs)) offered.push([forMs, "as long as the hub allows"]);
  const [openedMs] = useState(nowMs);
  const exact: Readonly<Record<string, FieldChoice>> = Object.fromEntries(
    Object.keys(input).map((name) => [name, { kind: "is", text: "" }]),
  );
  const [choices, setChoices] = useState(exact);
  /** Begins with the narrowest pattern that there is: `npm test*`. */
  const choosePattern = () => {
    for (const [name, pattern] of Object.entries(shortestPattern(record) ?? {}))
      if ("startsWith" in pattern)
        setChoices({ ...choices, [name]: { kind: "startsWith", text: pattern.startsWith } });
    setPattern(true);
  };
  // At once: the next key belongs to the form.
  useLayoutEffect(() => first.current?.focus(), []);
  const alwaysOf = (chosen: typeof choices): Always => ({
    reach,
    forMs,
    input: Object.fromEntries(
      Object.entries(chosen).map(([name, choice]) => [name, patternOf(choice, input[name] ?? null)]),
    ),
  });
  const termsOf = (asked: Always) => grantTerms(record, asked, Math.max(openedMs, nowMs), grantMs);
  const always: Always = isPattern ? alwaysOf(choices) : { reach, forMs };
  const terms = termsOf(always);
  const isEmpty =
    isPattern &&
    Object.values(choices).some(
      ({ kind, text }) => (kind === "under" || kind === "startsWith") && text === "",
    );
  const problem = isEmpty ? "Fill in each pattern." : grantProblem(record, terms)?.message;
  return (
    <form
      class="always"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined && !isBusy) onGive(always);
      }}
    >
      <div class="always-grid">
        <fieldset>
          <legend>For</legend>
          <label>
            <input
              ref={first}
              type="radio"
              name="reach"
              checked={reach === "session"}
              onChange={() => setReach("session")}
            />
            this session of the agent
          </label>
          {record.origin.directory !== undefined && (
            <label>
              <input
                type="radio"
                name="reach"
                checked={reach === "workspace"}
                onChange={() => setReach("workspace")}
              />
              this workspace, in all sessions of the agent
            </label>
          )}
          <label>
            <input type="radio" name="reach" checked={reach === "agent"} onChange={() => setReach("agent")} />
            all sessions of the agent
          </label>
        </fieldset>
        <fieldset>
          <legend>Which calls</legend>
          <label>
            <input type="radio" name="which" checked={!isPattern} onChange={() => setPattern(false)} />
            exactly this call
          </label>
          {!isExactOnly && (
            <label>
              <input type="radio" name="which" checked={isPattern} onChange={choosePattern} />
              calls like this one
            </label>
          )}
        </fieldset>
        <label class="field" for={durationId}>
          <span>How long</span>
          <Select id={durationId} value={forMs} options={offered} onChange={setForMs} />
        </label>
      </div>
      {isPattern && (
        <div class="fields">
          {Object.entries(choices).map(([name, choice]) => (
            <FieldRow
              key={name}
              name={name}
              value={input[name]}
              choice={choice}
              isRefused={(changed) =>
                grantProblem(record, termsOf(alwaysOf({ ...exact, [name]: changed }))) !== undefined
              }
              onChange={(changed) => setChoices({ ...choices, [name]: changed })}
            />
          ))}
          {Object.keys(choices).length === 0 && (
            <p class="dim small">
              {line(tool, 100)} has no input: the pattern is any call of it without input.
            </p>
          )}
        </div>
      )}
      <div class="grant-text" role="status" aria-label="The grant">
        <strong>The grant, whole</strong>
        <TextList texts={presentGrant(terms)} />
      </div>
      {problem !== undefined && (
        <Note tone="warn">
          <SafeText text={problem} />
        </Note>
      )}
      <div class="actions">
        <button type="submit" class="button primary" disabled={problem !== undefined || isBusy}>
          <Icon name="always" />
          Approve and give this grant
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
