import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { TaskHint } from "@harnesskit/protocol/openharness";
import { type FormField, type FormModel, formLimits } from "./form.ts";

/** What stands in the fields, by name. */
export type RawFormValues = Readonly<Record<string, string | boolean>>;

export type FormValue = string | number | boolean;

/** The values, or what is wrong by the field's name. */
export type CheckedForm =
  | { readonly isValid: true; readonly values: Readonly<Record<string, FormValue>> }
  | { readonly isValid: false; readonly problems: Readonly<Record<string, string>> };

type CheckedField = { readonly value: FormValue | undefined } | { readonly problem: string };

const isDate = (text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const checkNumber = (text: string, { min, max }: FormField): CheckedField => {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return { problem: "Enter a number." };
  if (min !== undefined && value < min) return { problem: `At least ${min}.` };
  if (max !== undefined && value > max) return { problem: `At most ${max}.` };
  return { value };
};

const checkField = (field: FormField, raw: string | boolean | undefined): CheckedField => {
  if (field.type === "checkbox") {
    const isOn = raw === true;
    return field.isRequired && !isOn ? { problem: "Tick this box." } : { value: isOn };
  }
  const whole = typeof raw === "string" ? raw : "";
  const text = field.type === "multiline" ? whole : whole.trim();
  if (text.trim() === "") return field.isRequired ? { problem: "This is needed." } : { value: undefined };
  if (text.length > formLimits.maxValueLength) {
    return { problem: `At most ${formLimits.maxValueLength} characters.` };
  }
  switch (field.type) {
    case "number":
      return checkNumber(text, field);
    case "date":
      return isDate(text) ? { value: text } : { problem: "Enter a date." };
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text) ? { value: text } : { problem: "Enter an e-mail address." };
    case "choice":
      return field.options.some(({ value }) => value === text)
        ? { value: text }
        : { problem: "Choose one of the list." };
    default:
      return { value: text };
  }
};

/** Checks what was filled in. A field that is left empty has no value. */
export const checkForm = ({ fields }: FormModel, raw: RawFormValues): CheckedForm => {
  const checked = fields.map(
    (field) =>
      [field.name, checkField(field, Object.hasOwn(raw, field.name) ? raw[field.name] : undefined)] as const,
  );
  const problems = checked.flatMap(([name, found]) =>
    "problem" in found ? [[name, found.problem] as const] : [],
  );
  if (problems.length > 0) return { isValid: false, problems: Object.fromEntries(problems) };
  const values = checked.flatMap(([name, found]) =>
    "value" in found && found.value !== undefined ? [[name, found.value] as const] : [],
  );
  return { isValid: true, values: Object.fromEntries(values) };
};

const valueText = (value: FormValue): string =>
  typeof value === "boolean" ? (value ? "yes" : "no") : String(value);

/** What a filled form sends: the intent in words, and the values in `task_hint.form_values`. */
export const formRequest = (
  { fields, intent, taskHint }: FormModel,
  values: Readonly<Record<string, FormValue>>,
): { readonly intent: string; readonly taskHint: TaskHint } => {
  const words = fields.flatMap(({ name, label }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : [`${label}: ${valueText(value)}`];
  });
  return {
    intent: intent ?? (words.join("\n") || "(nothing filled in)"),
    taskHint: { ...(taskHint as JsonObject), form_values: values },
  };
};
