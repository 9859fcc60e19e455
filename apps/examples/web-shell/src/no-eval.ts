import { config } from "zod";

// Has to come before the first schema: the page's policy lets no text become code, which zod would try, and be told of.
config({ jitless: true });
