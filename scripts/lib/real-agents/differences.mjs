const keysOf = (...objects) => [...new Set(objects.flatMap(Object.keys))].sort();

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Where two records differ, a line each: `place: was X, is Y`; of lists, what is gone and what is new. */
export function differences(before, now, place = "") {
  if (isObject(before) && isObject(now))
    return keysOf(before, now).flatMap((key) =>
      differences(before[key], now[key], place === "" ? key : `${place}.${key}`),
    );
  if (Array.isArray(before) && Array.isArray(now)) {
    const gone = before.filter((value) => !now.includes(value));
    const added = now.filter((value) => !before.includes(value));
    return [
      ...(gone.length > 0 ? [`${place}: gone: ${gone.join(", ")}`] : []),
      ...(added.length > 0 ? [`${place}: new: ${added.join(", ")}`] : []),
    ];
  }
  if (JSON.stringify(before) === JSON.stringify(now)) return [];
  return [`${place}: was ${JSON.stringify(before) ?? "absent"}, is ${JSON.stringify(now) ?? "absent"}`];
}
