// The pool alone: undici's main entry would make itself the `fetch` of a process that has not used its own yet.
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export = Pool;
}
