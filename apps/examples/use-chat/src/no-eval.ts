import { config } from "zod";

// Must be imported before the first schema: the page's policy forbids evaluation of strings, which zod would try.
config({ jitless: true });
