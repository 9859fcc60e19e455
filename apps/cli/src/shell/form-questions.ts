import { checkForm, type FormField, type FormModel, formRequest } from "@harnesskit/shell-client/cards";
import { displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import { askLine } from "../terminal/asker.ts";
import { type Choice, choose } from "../terminal/choose.ts";
import { quietKeyboard } from "../terminal/keyboard.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

const maxWidth = 500;

const yesOrNo: readonly Choice<boolean>[] = [
  { value: true, label: "Yes", key: "y" },
  { value: false, label: "No", key: "n" },
];

/** One answer to a field; undefined where the form is left. */
const askOnce = async (field: FormField, signal: AbortSignal): Promise<string | boolean | undefined> => {
  const { label, type, help, options, initial, isRequired } = field;
  const message = oneLine(help === undefined ? label : `${label} – ${help}`, maxWidth);
  const output = io().stdout;
  if (type === "checkbox" || type === "choice") {
    const none = isRequired ? [] : [{ value: "", label: "(none)" }];
    const choices: readonly Choice<string | boolean>[] =
      type === "checkbox" ? yesOrNo : [...none, ...options];
    const [first] = choices;
    const usual = choices.find(({ value }) => value === initial) ?? first;
    const chosen = await choose({
      message,
      choices,
      initial: type === "checkbox" ? initial === true : (usual?.value ?? ""),
      leave: "leave the form",
      isFiltered: choices.length > 9,
      signal,
      output,
    });
    return typeof chosen === "object" ? chosen.value : undefined;
  }
  // What could move the cursor is not offered for editing.
  const isPlain = typeof initial === "string" && displayText(initial) === initial;
  return askLine(message, signal, output, isPlain ? initial : "");
};

/** Asks for what a form wants, at the terminal. Undefined after Ctrl-C. What was typed before fills in nothing. */
export const askForm = async (
  form: FormModel,
  signal: AbortSignal,
): Promise<ReturnType<typeof formRequest> | undefined> => {
  if ((await quietKeyboard(io().stdin, signal)) !== "quiet") return undefined;
  const raw: Record<string, string | boolean> = {};
  for (const field of form.fields) {
    for (;;) {
      const value = await askOnce(field, signal);
      if (value === undefined) return undefined;
      raw[field.name] = value;
      const checked = checkForm({ ...form, fields: [field] }, { [field.name]: value });
      if (checked.isValid) break;
      createTerminal().say(`  ${checked.problems[field.name] ?? "It does not fit"}`);
    }
  }
  const checked = checkForm(form, raw);
  return checked.isValid ? formRequest(form, checked.values) : undefined;
};
