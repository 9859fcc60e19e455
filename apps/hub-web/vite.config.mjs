import { fileURLToPath } from "node:url";
import { defaultClientConditions, defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL("src", import.meta.url)),
  // The page asks for its files beside itself, wherever it is served.
  base: "./",
  // The packages of this repository are read from their sources: a page needs no earlier build, and is never of an older one.
  resolve: { conditions: ["@harnesskit/source", ...defaultClientConditions] },
  build: {
    rollupOptions: {
      // The hub's page, the page of one approval that a link in a notice opens, and the worker of the page on a device.
      input: ["index.html", "answer.html", "sw.ts"].map((name) =>
        fileURLToPath(new URL(`src/${name}`, import.meta.url)),
      ),
      // A worker keeps its address, and serves the paths below it.
      output: { entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // Each file stays a file: the page's content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
