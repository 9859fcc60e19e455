import { findHost } from "../../../packages/agent-hooks/dist/index.js";

const sorted = (values) => [...new Set(values)].sort();

/** One event of a hook in the words of our tables: its name, or why it cannot be read. */
function readSaid(host, said) {
  try {
    const { event, tool } = host.read(said, undefined);
    return { event, tool: tool?.name };
  } catch (error) {
    return { event: `unreadable: ${error.message.slice(0, 200)}` };
  }
}

/**
 * The formats that a host has shown: the tools that it has offered to its model, those of which its hooks have spoken and no table of ours
 * knows, and the fields of each event.
 */
export function formatsOf({ id }, runs) {
  const host = findHost(id);
  const events = {};
  const unknown = [];
  for (const { said } of runs.flatMap((run) => run.said)) {
    const { event, tool } = readSaid(host, said);
    events[event] = sorted([...(events[event] ?? []), ...Object.keys(said)]);
    if (!Object.hasOwn(host.events, event)) unknown.push(`event ${event}`);
    const isKnown = tool === undefined || Object.hasOwn(host.tools, tool) || host.bookkeeping.includes(tool);
    if (!isKnown && host.readMcpName?.(tool) === undefined) unknown.push(`tool ${tool}`);
  }
  const names = Object.keys(events).sort();
  return {
    tools: sorted(runs.flatMap(({ tools }) => tools)),
    unknown: sorted(unknown),
    events: Object.fromEntries(names.map((name) => [name, events[name]])),
  };
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Where two records differ, a line each: `place: was X, is Y`; of lists, what is gone and what is new. */
export function differences(before, now, place = "") {
  if (isObject(before) && isObject(now))
    return sorted([...Object.keys(before), ...Object.keys(now)]).flatMap((key) =>
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
