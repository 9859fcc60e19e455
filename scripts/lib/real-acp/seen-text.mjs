/** The mode in which the agent started, and what the guard has set, as it said. */
const modeOf = ({ stderr, mode }) => {
  const set = [...stderr.matchAll(/started with (.+?) "(.+?)"; set to "(.+?)"/g)];
  const short = (name = "none") => name.replace(/^.*#/, "");
  return set.length === 0
    ? short(mode)
    : set.map(([, , from, to]) => `${short(from)} → ${short(to)}`).join(", ");
};

const decisionOf = (row) => row?.decision?.decision ?? "none";

/** Whether a cell holds, and what was seen in it. */
export function seenText(cell, found, agent) {
  const mode = modeOf(found);
  if (found.problem !== undefined) return { mode, holds: false, text: found.problem };
  const { ran, actions, records, end, asked, agents } = found;
  const row = actions.find(({ tool }) => tool === "bash") ?? actions[0];
  const [record] = records;
  const did = ran === "" ? "did not run" : "ran";
  const rowText = row === undefined ? "no row" : `${decisionOf(row)}, ${row.state}`;
  const protection = agents[0]?.protection;
  const base = `${did}; ${rowText}`;
  // The editor is never asked: the guard answers.
  const isQuiet = asked.length === 0;
  switch (cell.id) {
    case "allow":
      return {
        mode,
        holds: ran === "allow" && row?.type === "pre_action" && row.state === "done" && isQuiet,
        text: base,
      };
    case "block":
      return { mode, holds: ran === "" && row?.state === "refused" && isQuiet, text: base };
    case "approve": {
      const isDone = ran === "ask" && row?.state === "done" && record?.effect === "done";
      return { mode, holds: isDone && isQuiet, text: `${base}; effect ${record?.effect}` };
    }
    case "refuse": {
      const shown = JSON.stringify(found.updates).includes("the human says no");
      const text = `${base}; reason ${shown ? "shown" : "not shown"} in the editor`;
      return { mode, holds: ran === "" && row?.state === "refused" && shown && isQuiet, text };
    }
    case "fail":
      // Gemini CLI calls a command completed whatever its exit code is, and does not say the code.
      return { mode, holds: row?.state === "failed" || agent === "gemini-cli", text: rowText };
    case "unasked": {
      const isSaid = found.stderr.includes("not judged");
      if (row?.type === "pre_action") return { mode, holds: true, text: `it asked: ${rowText}` };
      const isHonest = decisionOf(row) === "unjudged" && protection?.kind === "partial" && isSaid;
      const text = row === undefined ? `${did}; reported nothing` : `${rowText}; agents: ${protection?.kind}`;
      return { mode, holds: row === undefined ? ran === "" : isHonest, text };
    }
    default:
      return {
        mode,
        holds: ran === "" && record?.status === "withdrawn",
        text: `${did}; ${record?.status}; turn ${end}`,
      };
  }
}
