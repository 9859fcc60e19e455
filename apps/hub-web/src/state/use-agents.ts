import { useRead } from "./use-read.ts";

const everyMs = 4000;

/** The agents that have spoken to the hub, those seen last first. */
export const useAgents = () => useRead((client) => client.call("agents.list"), { everyMs });
