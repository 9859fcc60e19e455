/** The string in pieces of at most `maxBytes` bytes of UTF-8 each (at least 4), cut between characters. */
export function* splitText(text: string, maxBytes: number): Generator<string> {
  if (text.length * 3 <= maxBytes) {
    yield text;
    return;
  }
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    const width = point > 0xffff ? 4 : point > 0x7ff ? 3 : point > 0x7f ? 2 : 1;
    if (bytes + width > maxBytes && at > from) {
      yield text.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += width;
    if (width === 4) at++;
  }
  yield text.slice(from);
}
