import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { RecordFileError } from "./record-file-error.ts";

/** The kind of schema that the records have: those of `@harnesskit/protocol`. */
interface RecordSchema<Item> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: Item }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { path: readonly PropertyKey[]; message: string }[] };
      };
}

/** How records are written: `{ "version": 1, "<name>": [ … ] }`, sorted, one field on a line. */
export interface RecordFormat<Item> {
  /** The field of the file that holds them. */
  readonly name: string;
  readonly schema: RecordSchema<Item>;
  /** What they are sorted by. */
  readonly key: (item: Item) => string;
}

const version = 1;

/** Texts in the order of their UTF-16 units, the same everywhere. */
const compareStrings = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const recordsToText = <Item>({ name, key }: RecordFormat<Item>, items: readonly Item[]): string => {
  const sorted = [...items].sort((a, b) => compareStrings(key(a), key(b)));
  return `${JSON.stringify({ version, [name]: sorted }, null, 2)}\n`;
};

/** Throws {@link RecordFileError} (`record_file_invalid`, `record_file_too_large`) that names the place. */
export const recordsFromBytes = <Item>(
  path: string,
  { name, schema }: RecordFormat<Item>,
  bytes: Uint8Array,
  maxRecords: number,
): readonly Item[] => {
  const invalid = (problem: string, place = "") =>
    new RecordFileError("record_file_invalid", path, `is wrong${place && ` at ${place}`}: ${problem}`, place);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("it is not JSON in UTF-8");
  }
  if (!isObject(value)) throw invalid("it must be an object");
  const unknown = Object.keys(value).find((field) => field !== "version" && field !== name);
  if (unknown !== undefined) throw invalid("the field is unknown", shortText(unknown));
  if (value.version !== version) throw invalid(`it must be ${version}`, "version");
  const records = Object.hasOwn(value, name) ? value[name] : undefined;
  if (!Array.isArray(records)) throw invalid("it must be an array", name);
  if (records.length > maxRecords) {
    throw new RecordFileError("record_file_too_large", path, `has more than ${maxRecords} ${name}`, name);
  }
  return records.map((record, index) => {
    const parsed = schema.safeParse(record);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw invalid(
      shortText(issue?.message ?? ""),
      shortText([name, index, ...(issue?.path ?? [])].map(String).join(".")),
    );
  });
};

const shortText = (text: string): string => displayText(text, { maxLength: 200 });
