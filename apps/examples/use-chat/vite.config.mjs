import { fileURLToPath } from "node:url";
import { defaultClientConditions, defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL("src", import.meta.url)),
  base: "./",
  // The packages of this repository are read from their sources. An application of your own needs no such line.
  resolve: { conditions: ["@harnesskit/source", ...defaultClientConditions] },
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // Each file stays a file: the page's content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
