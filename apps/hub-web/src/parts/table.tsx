import type { ComponentChildren } from "preact";

/** A column: what it is called, and what it shows of a row. The first one names the row. */
export interface Column<Row> {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly show: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly classOf?: (row: Row) => string;
}

/** A table with a head; on a narrow page each row is a list with the columns' names. */
export function Table<Row>({ columns, rows, keyOf, classOf }: TableProps<Row>) {
  const looks = ({ isNumber }: Column<Row>) => (isNumber ? "number-cell" : undefined);
  const [first, ...others] = columns;
  return (
    <table class="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={looks(column)}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={classOf?.(row)}>
            <th scope="row">{first?.show(row)}</th>
            {others.map((column) => (
              <td key={column.name} data-label={column.name} class={looks(column)}>
                {column.show(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
