import type { ComponentChildren } from "preact";
import { SafeText } from "./safe-text.tsx";

interface TableProps {
  readonly columns: readonly string[];
  /** The columns that hold numbers. */
  readonly numbers?: readonly string[];
  readonly children: ComponentChildren;
}

/** A table with a head. */
export function Table({ columns, numbers = [], children }: TableProps) {
  return (
    <table class="table">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" class={numbers.includes(name) ? "number-cell" : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** Safe texts, one below the other. */
export function TextList({
  texts,
  className,
}: {
  readonly texts: readonly string[];
  readonly className?: string;
}) {
  return (
    <ul class={className}>
      {texts.map((text) => (
        <li key={text}>
          <SafeText text={text} />
        </li>
      ))}
    </ul>
  );
}
