/**
 * A time of RFC 3339 that its schema accepted as milliseconds since 1970, with what is below a millisecond behind the
 * point: in any form, leap seconds and lower case among them, which `Date.parse` does not take.
 */
export const toInstant = (time: string): number => {
  const field = (from: number, to: number): number => Number(time.slice(from, to));
  const seconds =
    Date.UTC(field(0, 4), field(5, 7) - 1, field(8, 10), field(11, 13), field(14, 16), field(17, 19)) / 1000;
  let at = 19;
  let fraction = 0;
  if (time[at] === ".") {
    at++;
    const start = at;
    while (isDigit(time.charCodeAt(at))) at++;
    fraction = Number(`0.${time.slice(start, at)}`);
  }
  const sign = time[at] === "-" ? -1 : 1;
  const isUtc = time[at] === "Z" || time[at] === "z";
  const offset = isUtc ? 0 : sign * (field(at + 1, at + 3) * 3600 + field(at + 4, at + 6) * 60);
  return (seconds - offset + fraction) * 1000;
};

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
