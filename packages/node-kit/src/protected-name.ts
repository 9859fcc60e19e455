const protectedNames: ReadonlySet<string> = new Set([".git", "git~1", ".harness"]);

/**
 * The first name in a path that no tool writes below, `.git` or `.harness`, as file systems read it; undefined for none. Compares
 * strings: links must be resolved before.
 */
export const protectedNameIn = (path: string): string | undefined =>
  path
    .split(/[/\\]/)
    // Some file systems fold case, drop trailing dots and spaces, ignore format characters or keep a short name.
    .map((name) =>
      name
        .replace(/\p{Cf}/gu, "")
        .normalize("NFKC")
        .toLowerCase()
        .replace(/[. ]+$/, ""),
    )
    .find((name) => protectedNames.has(name));
