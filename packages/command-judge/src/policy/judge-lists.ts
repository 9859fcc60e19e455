import type { JudgeLists } from "../places.ts";

type NamedLists = Readonly<Record<string, readonly string[]>>;

/** What a policy's named lists add to the tables. */
export const toJudgeLists = ({
  read_programs,
  write_programs,
  secret_paths,
  allowed_paths,
}: NamedLists): JudgeLists => ({
  ...(read_programs && { read: read_programs }),
  ...(write_programs && { write: write_programs }),
  ...(secret_paths && { secretPaths: secret_paths }),
  ...(allowed_paths && { allowedPaths: allowed_paths }),
});
