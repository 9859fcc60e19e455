export { writeFileAtomic } from "../src/index.ts";
