import { quickProgram } from "../../scripts/tsup.ts";

export default quickProgram({ "guard-hook": "src/guard/guard-hook-bin.ts" });
