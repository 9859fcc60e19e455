import type { ShellLists } from "../../shell/call.ts";

type NamedLists = Readonly<Record<string, readonly string[]>>;

const known = new WeakMap<NamedLists, ShellLists>();

/**
 * What a policy's named lists say to the judge of commands and paths: `read_programs`, `write_programs`, `secret_paths`
 * and `allowed_paths`. The same lists give the same object, so that judgements are cached.
 */
export const toShellLists = (lists: NamedLists): ShellLists => {
  const made = known.get(lists);
  if (made) return made;
  const { read_programs, write_programs, secret_paths, allowed_paths } = lists;
  const shellLists: ShellLists = {
    ...(read_programs && { read: read_programs }),
    ...(write_programs && { write: write_programs }),
    ...(secret_paths && { secretPaths: secret_paths }),
    ...(allowed_paths && { allowedPaths: allowed_paths }),
  };
  known.set(lists, shellLists);
  return shellLists;
};
