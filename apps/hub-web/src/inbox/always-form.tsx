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
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { line } from "../format.ts";
import { Button, Select } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText, TextList } from "../parts/safe-text.tsx";
import { useNow } from "../state/now.ts";

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

const parentOf = (path: string): string => path.replace(/\/[^/]*$/, "") || path;

/** The text that a kind begins with, as narrow as it can be. */
const startText = (kind: FieldKind, value: unknown): string => {
  if (typeof value !== "string") return "";
  return kind === "under" ? parentOf(value) : value;
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
  readonly onChange: (choice: FieldChoice) => void;
}

function FieldRow({ name, value, choice, onChange }: FieldRowProps) {
  const kinds: FieldKind[] = typeof value === "string" ? ["is", "startsWith", "under", "any"] : ["is", "any"];
  const shown = line(name, 100);
  return (
    <div class="field-row">
      <code class="clip">{shown}</code>
      <Select
        label={`What ${shown} may be`}
        value={choice.kind}
        options={kinds.map((kind) => [kind, kindTexts[kind]])}
        onChange={(kind) => onChange({ kind, text: startText(kind, value) })}
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

const reaches: readonly (readonly [Always["reach"], string])[] = [
  ["session", "this session of the agent"],
  ["workspace", "this workspace, in all sessions of the agent"],
  ["agent", "all sessions of the agent"],
];

const whichTexts = [
  ["exact", "exactly this call"],
  ["pattern", "calls like this one"],
] as const;

interface AlwaysFormProps {
  readonly record: ApprovalRecord;
  readonly grantMs: number;
  readonly isBusy: boolean;
  /** Whether a grant is for exactly this call, as on a device with a highest risk. */
  readonly isExactOnly: boolean;
  readonly onGive: (always: Always) => void;
  readonly onCancel: () => void;
}

/** Chooses a grant, and shows it whole before it is given. */
export function AlwaysForm(props: AlwaysFormProps) {
  const { record, grantMs, isBusy, isExactOnly, onGive, onCancel } = props;
  const { input, tool } = record.subject;
  const nowMs = useNow();
  const form = useRef<HTMLFormElement>(null);
  const [reach, setReach] = useState<Always["reach"]>("session");
  const [which, setWhich] = useState<"exact" | "pattern">("exact");
  const [forMs, setForMs] = useState(Math.min(24 * hourMs, grantMs));
  const offered = durations.filter(([ms]) => ms <= grantMs);
  if (!offered.some(([ms]) => ms === forMs)) offered.push([forMs, "as long as the hub allows"]);
  const [openedMs] = useState(nowMs);
  const [choices, setChoices] = useState<Readonly<Record<string, FieldChoice>>>(() =>
    Object.fromEntries(Object.keys(input).map((name) => [name, { kind: "is", text: "" }])),
  );
  /** A pattern begins with the narrowest that there is: `npm test*`. */
  const choose = (next: typeof which) => {
    setWhich(next);
    if (next === "exact") return;
    for (const [name, pattern] of Object.entries(shortestPattern(record) ?? {}))
      if ("startsWith" in pattern)
        setChoices({ ...choices, [name]: { kind: "startsWith", text: pattern.startsWith } });
  };
  // At once: the next key belongs to the form.
  useLayoutEffect(() => form.current?.querySelector("select")?.focus(), []);
  const isPattern = which === "pattern";
  const pattern = Object.fromEntries(
    Object.entries(choices).map(([name, choice]) => [name, patternOf(choice, input[name] ?? null)]),
  );
  const always: Always = { reach, forMs, input: isPattern ? pattern : undefined };
  const terms = grantTerms(record, always, Math.max(openedMs, nowMs), grantMs);
  const problem = grantProblem(record, terms)?.message;
  return (
    <form
      ref={form}
      class="lines wide-gap"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined && !isBusy) onGive(always);
      }}
    >
      <div class="always-grid">
        <Select
          label="For"
          isLabelled
          value={reach}
          options={reaches.filter(([each]) => each !== "workspace" || record.origin.directory !== undefined)}
          onChange={setReach}
        />
        <Select
          label="Which calls"
          isLabelled
          value={which}
          options={isExactOnly ? whichTexts.slice(0, 1) : whichTexts}
          onChange={choose}
        />
        <Select label="How long" isLabelled value={forMs} options={offered} onChange={setForMs} />
      </div>
      {isPattern && (
        <div class="lines">
          {Object.entries(choices).map(([name, choice]) => (
            <FieldRow
              key={name}
              name={name}
              value={input[name]}
              choice={choice}
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
      <div class="lines tinted" role="status" aria-label="The grant">
        <strong>The grant, whole</strong>
        <TextList texts={presentGrant(terms, record.subject)} />
      </div>
      {problem !== undefined && (
        <Note tone="warn">
          <SafeText text={problem} />
        </Note>
      )}
      <div class="inline">
        <Button type="submit" look="primary" icon="always" disabled={problem !== undefined || isBusy}>
          Approve and give this grant
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
