import { csvHeader, csvRow } from "@harnesskit/hub/client";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { useState } from "preact/hooks";
import { formatCount } from "../format.ts";
import { Button } from "../parts/controls.tsx";
import { Menu } from "../parts/menu.tsx";
import { useApp } from "../state/app.ts";
import type { TimelineFilter } from "../state/route.ts";
import { toParams } from "../state/timeline.ts";
import { useAction } from "../state/use-action.ts";

const formats = {
  jsonl: {
    label: "JSON lines",
    type: "application/jsonl",
    head: "",
    line: (row: TimelineRow) => `${JSON.stringify(row)}\n`,
  },
  csv: { label: "CSV", type: "text/csv", head: csvHeader, line: csvRow },
} as const;
type Format = keyof typeof formats;

const save = (name: string, blob: Blob): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

/** Saves all rows that fit the filter, the oldest first. */
export function ExportMenu({ filter }: { readonly filter: TimelineFilter }) {
  const { client } = useApp().link;
  const [progress, setProgress] = useState<string>();
  const { problem, run } = useAction(async (format: Format) => {
    const { type, head, line } = formats[format];
    const parts: string[] = [];
    let count = 0;
    let beforeId: number | undefined;
    do {
      setProgress(`Reading ${formatCount(count)} rows …`);
      const page = await client.call("timeline.page", { filter: toParams(filter), beforeId, limit: 500 });
      parts.push([...page.rows].reverse().map(line).join(""));
      count += page.rows.length;
      beforeId = page.nextBeforeId;
    } while (beforeId !== undefined);
    save(`timeline.${format}`, new Blob([head, ...parts.reverse()], { type }));
    setProgress(`${formatCount(count)} rows saved`);
  });
  return (
    <Menu label="Export">
      <p class="dim small">All rows that fit the filter, the oldest first.</p>
      <div class="inline">
        {(Object.keys(formats) as Format[]).map((format) => (
          <Button key={format} look="compact" onClick={() => run(format)}>
            {formats[format].label}
          </Button>
        ))}
      </div>
      {progress !== undefined && (
        <p class="small" role="status">
          {problem ?? progress}
        </p>
      )}
    </Menu>
  );
}
