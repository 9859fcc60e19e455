import type { TaskHint } from "@harnesskit/protocol/openharness";
import { isObject } from "@harnesskit/wire/json";
import { cardField, cardLine, cellText, firstOf } from "./values.ts";

export type FormFieldType = "text" | "multiline" | "number" | "date" | "email" | "choice" | "checkbox";

export interface FormField {
  /** Letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  /** Safe to show, as all texts here but `initial` and an option's `value`. */
  readonly label: string;
  readonly type: FormFieldType;
  readonly isRequired: boolean;
  readonly help: string | undefined;
  readonly placeholder: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly initial: string | boolean;
}

export interface FormModel {
  readonly fields: readonly FormField[];
  readonly submitLabel: string;
  /** What is said with the values. @default the values, in words */
  readonly intent: string | undefined;
  /** Goes along with the values. */
  readonly taskHint: TaskHint | undefined;
}

/** What a form has at most. */
export const formLimits: {
  readonly maxFields: number;
  readonly maxOptions: number;
  readonly maxValueLength: number;
} = { maxFields: 30, maxOptions: 100, maxValueLength: 4_000 };

const types: readonly string[] = ["text", "multiline", "number", "date", "email", "choice", "checkbox"];

const typeOf = (field: unknown): FormFieldType | undefined => {
  const type = cardField(field, "type") ?? "text";
  return typeof type === "string" && types.includes(type) ? (type as FormFieldType) : undefined;
};

const numberOf = (field: unknown, name: string): number | undefined => {
  const value = cardField(field, name);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};

const choicesOf = (field: unknown): FormField["options"] => {
  const options = cardField(field, "options");
  if (!Array.isArray(options)) return [];
  return firstOf(options, formLimits.maxOptions).kept.flatMap((option) => {
    const value = isObject(option) ? cardField(option, "value") : option;
    if (typeof value !== "string" && typeof value !== "number") return [];
    return [{ value: String(value), label: cardLine(option, "label", 100) ?? cellText(value, 100) }];
  });
};

const readField = (field: unknown): FormField | undefined => {
  const name = cardField(field, "name");
  const type = typeOf(field);
  if (typeof name !== "string" || !/^(?!__proto__$)[\w.-]{1,64}$/.test(name) || type === undefined)
    return undefined;
  const options = choicesOf(field);
  if (type === "choice" && options.length === 0) return undefined;
  const value = cardField(field, "value");
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return {
    name,
    label: cardLine(field, "label", 200) ?? name,
    type,
    isRequired: cardField(field, "required") === true,
    help: cardLine(field, "help", 500),
    placeholder: cardLine(field, "placeholder", 100),
    options,
    min: numberOf(field, "min"),
    max: numberOf(field, "max"),
    initial: type === "checkbox" ? value === true : text.slice(0, formLimits.maxValueLength),
  };
};

/**
 * Reads `{ fields, submit? }`. Undefined for anything else, also for a form with a field that cannot be shown: to
 * leave the field out would send something else than was asked for.
 */
export const readForm = (data: unknown): FormModel | undefined => {
  const fields = cardField(data, "fields");
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > formLimits.maxFields) return undefined;
  const read = fields.map(readField).filter((field) => field !== undefined);
  const names = new Set(read.map(({ name }) => name));
  if (read.length !== fields.length || names.size !== read.length) return undefined;
  const submit = cardField(data, "submit");
  const intent = cardField(submit, "intent");
  const taskHint = cardField(submit, "task_hint");
  return {
    fields: read,
    submitLabel: cardLine(submit, "label", 60) ?? "Send",
    intent: typeof intent === "string" && intent !== "" ? intent.slice(0, 2_000) : undefined,
    taskHint: isObject(taskHint) ? (taskHint as TaskHint) : undefined,
  };
};
