import { join } from "node:path";

/** Packs packages into `dir`. Returns `{ pkg, tarball, files }` of each. */
export async function pack(pnpm, packages, dir) {
  const filters = packages.flatMap(({ name }) => ["--filter", name]);
  const args = ["-r", ...filters, "pack", "--pack-destination", dir, "--json"];
  const { code, stdout, output } = await pnpm(args);
  if (code !== 0) throw new Error(`pnpm pack failed: ${output.trim()}`);
  const results = [JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))].flat();
  return packages.map((pkg) => {
    const result = results.find(({ name }) => name === pkg.name);
    return {
      pkg,
      tarball: join(dir, result.filename.replace(/^.*[\\/]/, "")),
      files: result.files.map(({ path }) => path),
    };
  });
}
