import { displayText } from "@harnesskit/wire";

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong first, and in which field: `retry_after_ms: expected an integer`. Safe to show; the values are not in it. */
export const problemOf = ({ issues }: { readonly issues: readonly Issue[] }): string => {
  const [{ path, message } = { path: [], message: "it is of another form" }] = issues;
  const place = path.length > 0 ? `${path.map(String).join(".")}: ` : "";
  return displayText(`${place}${message}`, { maxLength: 300 });
};
