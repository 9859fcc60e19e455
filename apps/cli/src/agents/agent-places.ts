import { join } from "node:path";
import { stateDirectory } from "../workspace-directory.ts";

/** Where this user's agents are. */
export const agentsDirectory = (): string => stateDirectory("agents");

/** What is enabled; for an operator to read. */
export const enabledFile = (): string => join(agentsDirectory(), "enabled.json");
