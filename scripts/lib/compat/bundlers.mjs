import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build as buildWithVite } from "vite";
import { bundleSizes } from "../packages/bundles.mjs";
import { installTool } from "../tool.mjs";

const kilobytes = (code) => Math.ceil(gzipSync(code, { level: 9 }).length / 1000);

/** A page that uses all of an entry, and one that has a worker use it: `{ page, worker }` in kB. */
async function sizesWithVite(dir, name, specifier) {
  const folder = join(dir, name);
  writeFileSync(join(folder, "vite-page.mjs"), `export * from "${specifier}";\n`);
  writeFileSync(
    join(folder, "vite-worker.mjs"),
    `import * as all from "${specifier}";\nself.onmessage = ({ data }) => self.postMessage(typeof all[data]);\n`,
  );
  writeFileSync(
    join(folder, "vite-starter.mjs"),
    'export const worker = new Worker(new URL("./vite-worker.mjs", import.meta.url), { type: "module" });\n',
  );
  const build = async (file) => {
    const built = await buildWithVite({
      root: folder,
      configFile: false,
      logLevel: "silent",
      worker: { format: "es" },
      build: {
        write: false,
        modulePreload: false,
        minify: true,
        target: "es2022",
        rollupOptions: { input: join(folder, file), preserveEntrySignatures: "strict" },
      },
    });
    return [built].flat()[0].output;
  };
  const [page] = await build("vite-page.mjs");
  const worker = (await build("vite-starter.mjs")).find(
    ({ fileName }) =>
      fileName.includes("worker") && fileName.endsWith(".js") && !fileName.includes("starter"),
  );
  return { page: kilobytes(page.code), worker: kilobytes(worker.code ?? worker.source) };
}

/** One compilation with webpack, a file for each entry. Returns kB by index. */
async function sizesWithWebpack(dir, tools, wanted) {
  const { folder } = await installTool(tools, "webpack", "5");
  const webpack = createRequire(join(folder, "package.json"))("webpack");
  const entry = {};
  for (const [index, { name, specifier }] of wanted.entries()) {
    const file = join(dir, name, `webpack-${index}.mjs`);
    writeFileSync(file, `export * from "${specifier}";\n`);
    entry[`entry-${index}`] = { import: file, library: { type: "module" } };
  }
  const output = join(dir, "webpack");
  const stats = await new Promise((resolve, reject) =>
    webpack(
      {
        context: dir,
        mode: "production",
        target: ["web", "es2022"],
        entry,
        output: { path: output, filename: "[name].js", module: true },
        experiments: { outputModule: true },
        optimization: { splitChunks: false, runtimeChunk: false },
        performance: false,
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    ),
  );
  const { errors = [] } = stats.toJson({ all: false, errors: true });
  if (errors.length > 0) throw new Error(`webpack: ${errors[0].moduleName ?? ""} ${errors[0].message}`);
  return wanted.map((_, index) => kilobytes(readFileSync(join(output, `entry-${index}.js`))));
}

/** What a page loads for each entry that runs in browsers, by specifier: kB gzipped with esbuild, Vite, Vite in a worker, webpack. */
export async function bundlerSizes(dir, tools, consumers) {
  const chosen = consumers.filter(({ name }) => !name.endsWith("-and-other"));
  const small = await bundleSizes(dir, chosen);
  const wanted = chosen
    .flatMap(({ name, entries }) => entries.map(({ specifier }) => ({ name, specifier })))
    .filter(({ specifier }) => small[specifier] !== undefined);
  const webpack = await sizesWithWebpack(dir, tools, wanted);
  const rows = {};
  for (const [index, { name, specifier }] of wanted.entries()) {
    const { page, worker } = await sizesWithVite(dir, name, specifier);
    rows[specifier] = [Math.ceil(small[specifier] / 1000), page, worker, webpack[index]];
  }
  return rows;
}
