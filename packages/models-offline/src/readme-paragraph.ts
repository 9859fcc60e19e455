/** What the start of a README says. */
export interface ReadmeStart {
  readonly heading?: string | undefined;
  readonly paragraph?: string | undefined;
}

const maxParagraphChars = 800;

/**
 * Takes the first heading and the first paragraph of prose out of a README in Markdown, reStructuredText or plain
 * text. Badges, pictures, HTML, comments, rules, code and lists are no prose.
 */
export function readmeStart(text: string): ReadmeStart {
  let heading: string | undefined;
  const paragraph: string[] = [];
  let fenced = false;
  let commented = false;
  const lines = text.slice(0, 32_768).replaceAll("\r\n", "\n").split("\n");
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (/^(?:```|~~~)/.test(line)) fenced = !fenced;
    if (line.startsWith("<!--")) commented = true;
    const skipped = fenced || commented || /^(?:```|~~~)/.test(line);
    if (line.includes("-->")) commented = false;
    const title = skipped ? undefined : titleAt(line, lines[index + 1]?.trim() ?? "");
    if (title !== undefined && paragraph.length === 0) heading ??= title;
    if (!skipped && title === undefined && isProse(line)) paragraph.push(line);
    else if (paragraph.length > 0) break;
  }
  const prose = paragraph.join(" ").slice(0, maxParagraphChars);
  return { heading: heading || undefined, paragraph: prose === "" ? undefined : prose };
}

function titleAt(line: string, next: string): string | undefined {
  const hashes = /^#{1,6}\s+(.{1,200}?)\s*#*$/.exec(line);
  if (hashes !== null) return hashes[1];
  return line !== "" && isProse(line) && /^(?:={3,}|-{3,})$/.test(next) ? line.slice(0, 200) : undefined;
}

function isProse(line: string): boolean {
  if (
    line === "" ||
    /^(?:[-=*_~^]{3,}|[-*+]\s|\d{1,3}[.)]\s|\||<|\.\.|!\[|\[!\[|\[[^\]]{1,200}\]:|#)/.test(line)
  )
    return false;
  return /\p{L}/u.test(line);
}
