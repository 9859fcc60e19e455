import type { FormField, FormModel } from "@harnesskit/shell-client/cards";
import { checkForm, formRequest, type RawFormValues } from "@harnesskit/shell-client/cards";
import { useId, useRef, useState } from "preact/hooks";
import type { Sending } from "../entries.ts";

interface FieldProps {
  readonly field: FormField;
  readonly value: string | boolean;
  readonly problem: string | undefined;
  readonly onValue: (value: string | boolean) => void;
}

/** Which keyboard a telephone shows. */
const inputModes = { text: "text", number: "decimal", email: "email" } as const;

/** The input itself. What is wrong is said in words of ours, beside it, so the browser's own checks are off. */
function Control({ field, value, onValue, attributes }: FieldProps & { readonly attributes: object }) {
  const written = {
    ...attributes,
    value: typeof value === "string" ? value : "",
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onValue(event.currentTarget.value),
  };
  switch (field.type) {
    case "multiline":
      return <textarea {...written} rows={3} />;
    case "choice":
      return (
        <select {...written}>
          <option value="">{field.placeholder ?? "Choose …"}</option>
          {field.options.map((option) => (
            <option value={option.value}>{option.label}</option>
          ))}
        </select>
      );
    case "checkbox":
      return (
        <input
          {...attributes}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
      );
    case "date":
      return <input {...written} type="date" />;
    default:
      return (
        <input
          {...written}
          type="text"
          inputMode={inputModes[field.type]}
          placeholder={field.placeholder}
          autocomplete="off"
        />
      );
  }
}

function Field(props: FieldProps) {
  const { field, problem } = props;
  const id = useId();
  const described = [...(field.help ? [`${id}-help`] : []), ...(problem ? [`${id}-problem`] : [])];
  const attributes = {
    id,
    name: field.name,
    class: field.type === "checkbox" ? undefined : "input",
    "aria-required": field.isRequired,
    "aria-invalid": problem !== undefined,
    "aria-describedby": described.join(" ") || undefined,
  };
  return (
    <div class={`field ${field.type}`}>
      <label for={id}>
        {field.label}
        {field.isRequired && <span class="dim small"> (needed)</span>}
      </label>
      <Control {...props} attributes={attributes} />
      {field.help && (
        <p class="dim small" id={`${id}-help`}>
          {field.help}
        </p>
      )}
      {problem && (
        <p class="problem small" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

export interface FormCardProps {
  readonly form: FormModel;
  readonly isSettled: boolean;
  readonly isBusy: boolean;
  readonly onSubmit: (sending: Sending) => void;
}

const initialOf = ({ fields }: FormModel): RawFormValues =>
  Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));

export function FormCard({ form, isSettled, isBusy, onSubmit }: FormCardProps) {
  const [values, setValues] = useState(() => initialOf(form));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const element = useRef<HTMLFormElement>(null);

  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy || isSettled) return;
    const checked = checkForm(form, values);
    if (checked.isValid) {
      setProblems({});
      onSubmit(formRequest(form, checked.values));
      return;
    }
    setProblems(checked.problems);
    const first = form.fields.find(({ name }) => checked.problems[name] !== undefined);
    if (first) element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first.name)}"]`)?.focus();
  };

  return (
    <form ref={element} onSubmit={submit} noValidate>
      <fieldset disabled={isSettled}>
        {form.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            problem={problems[field.name]}
            onValue={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <div class="inline">
          <button type="submit" class="button primary" disabled={isBusy || isSettled}>
            {isSettled ? "Sent" : form.submitLabel}
          </button>
        </div>
      </fieldset>
    </form>
  );
}
