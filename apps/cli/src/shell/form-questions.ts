import { confirm, isCancel, select, text } from "@clack/prompts";
import {
  checkForm,
  type FormField,
  type FormModel,
  formRequest,
  type RawFormValues,
} from "@harnesskit/shell-client/cards";
import { displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import { quietKeyboard } from "../terminal/keyboard.ts";

const fieldProblem = (form: FormModel, field: FormField, value: string | boolean): string | undefined => {
  const checked = checkForm({ ...form, fields: [field] }, { [field.name]: value });
  return checked.isValid ? undefined : checked.problems[field.name];
};

const askField = async (form: FormModel, field: FormField, signal: AbortSignal): Promise<unknown> => {
  const { label, type, help, options, initial, isRequired } = field;
  const message = help === undefined ? label : `${label} – ${help}`;
  if (type === "checkbox") {
    for (;;) {
      const answer = await confirm({ message, initialValue: initial === true, signal });
      if (isCancel(answer) || fieldProblem(form, field, answer) === undefined) return answer;
    }
  }
  if (type === "choice") {
    const skip = isRequired ? [] : [{ value: "", label: "(none)" }];
    return select({ message, options: [...skip, ...options], showInstructions: false, signal });
  }
  // What could move the cursor is not offered for editing.
  const isPlain = typeof initial === "string" && displayText(initial) === initial;
  return text({
    message,
    ...(isPlain ? { initialValue: initial } : {}),
    ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
    validate: (value) => fieldProblem(form, field, value ?? ""),
    signal,
  });
};

/** Asks for what a form wants, at the terminal. Undefined after Ctrl-C. What was typed before fills in nothing. */
export const askForm = async (
  form: FormModel,
  signal: AbortSignal,
): Promise<ReturnType<typeof formRequest> | undefined> => {
  if ((await quietKeyboard(io().stdin, signal)) !== "quiet") return undefined;
  const raw: Record<string, string | boolean> = {};
  for (const field of form.fields) {
    const answer = await askField(form, field, signal);
    if (isCancel(answer)) return undefined;
    raw[field.name] = typeof answer === "boolean" ? answer : String(answer ?? "");
  }
  const checked = checkForm(form, raw satisfies RawFormValues);
  return checked.isValid ? formRequest(form, checked.values) : undefined;
};
