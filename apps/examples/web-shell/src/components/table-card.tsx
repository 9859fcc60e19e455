import type { ChartModel, TableModel } from "@harnesskit/shell-client/cards";

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

/** What is left out of a table, in words. */
const hiddenText = ({ hiddenRows, hiddenColumns }: TableModel): string => {
  const parts = [
    ...(hiddenRows > 0 ? [counted(hiddenRows, "more row", "more rows")] : []),
    ...(hiddenColumns > 0 ? [counted(hiddenColumns, "more column", "more columns")] : []),
  ];
  return parts.length === 0 ? "" : `Not shown: ${parts.join(", ")}.`;
};

/** A chart as its figures. */
export const figuresOf = ({ labels, series, unit, hiddenPoints, hiddenSeries }: ChartModel): TableModel => ({
  columns: [
    { label: unit === undefined ? "" : `in ${unit}`, isNumeric: false },
    ...series.map(({ name }) => ({ label: name || "value", isNumeric: true })),
  ],
  rows: labels.map((label, index) => [
    label,
    ...series.map(({ values }) => values[index]?.toLocaleString("en-US") ?? ""),
  ]),
  hiddenRows: hiddenPoints,
  hiddenColumns: hiddenSeries,
});

export function TableCard({ table, label }: { readonly table: TableModel; readonly label: string }) {
  const hidden = hiddenText(table);
  return (
    <>
      <section class="scroll" aria-label={label}>
        <table>
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th scope="col" class={column.isNumeric ? "number-cell" : ""}>
                  {column.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr>
                {row.map((cell, index) => (
                  <td class={table.columns[index]?.isNumeric ? "number-cell" : ""} dir="auto">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {hidden !== "" && <p class="dim small">{hidden}</p>}
    </>
  );
}
