import { join } from "node:path";
import { stateDirectory } from "../workspace-directory.ts";

/** Where this user's agents are. */
export const agentsDirectory = (): string => stateDirectory("agents");

/** The copies of agents that are installed, each with its record. */
export const installedDirectory = (): string => join(agentsDirectory(), "installed");
