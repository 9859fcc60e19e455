/** @jsxImportSource react */
import { presentApproval } from "@harnesskit/approvals";
import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

type Part = ThreadUIMessage["parts"][number];
type ToolPart = Extract<Part, { type: "dynamic-tool" }>;

export type Answer = (id: string, approved: boolean) => void;

const safe = (text: string) => displayText(text, { multiline: true });
const json = (value: unknown) => safe(JSON.stringify(value, null, 2) ?? "");

const states: Readonly<Record<string, string>> = {
  "input-streaming": "is being prepared",
  "input-available": "runs",
  "approval-requested": "waits for you",
  "approval-responded": "was answered",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "was refused",
};

const whole = { maxLines: Number.MAX_SAFE_INTEGER, maxLength: Number.MAX_SAFE_INTEGER };

/** What a human decides on: what will be done in words, then the command, the change or the fields, whole, with nothing hidden. */
const Question = ({ toolName, input }: Pick<ToolPart, "toolName" | "input">) => {
  const subject = { tool: toolName, input: (isObject(input) ? input : { input }) as never };
  const { title, parts } = presentApproval({ subject }, whole);
  return (
    <>
      <p className="question">{title}</p>
      {parts.map(({ label, lines }) => (
        <pre key={label} title={label}>
          {lines.map(({ text }) => text).join("\n")}
        </pre>
      ))}
    </>
  );
};

const ToolCall = ({ part, onAnswer }: { readonly part: ToolPart; readonly onAnswer: Answer }) => {
  const { state, toolName, input, approval } = part;
  return (
    <section className={`call ${state}`} aria-label={`Call of ${safe(toolName)}`}>
      <h3>
        <code>{safe(toolName)}</code> <span className="state">{states[state] ?? state}</span>
      </h3>
      {state === "approval-requested" ? (
        <Question toolName={toolName} input={input} />
      ) : (
        <pre>{json(input)}</pre>
      )}
      {state === "approval-requested" && approval && (
        <p className="answers">
          <button type="button" className="approve" onClick={() => onAnswer(approval.id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => onAnswer(approval.id, false)}>
            Refuse
          </button>
        </p>
      )}
      {state === "output-available" && (
        <details>
          <summary>Result</summary>
          <pre>{json(part.output)}</pre>
        </details>
      )}
      {state === "output-error" && <p className="failure">{safe(part.errorText)}</p>}
    </section>
  );
};

/** One part of a message. What a model or a tool said is untrusted text: nothing hidden, nothing rendered. */
export const MessagePart = ({ part, onAnswer }: { readonly part: Part; readonly onAnswer: Answer }) => {
  switch (part.type) {
    case "text":
      return <p className="text">{safe(part.text)}</p>;
    case "reasoning":
      return (
        <details className="reasoning">
          <summary>Reasoning</summary>
          <p className="text">{safe(part.text)}</p>
        </details>
      );
    case "dynamic-tool":
      return <ToolCall part={part} onAnswer={onAnswer} />;
    case "data-tool-log":
      return <pre className="log">{safe(part.data.text ?? "")}</pre>;
    case "data-plan":
    case "data-artifact":
      return (
        <details>
          <summary>{part.type === "data-plan" ? "Plan" : "Artifact"}</summary>
          <pre>{json(part.data)}</pre>
        </details>
      );
    default:
      return null;
  }
};
