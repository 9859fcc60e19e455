import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: "src",
  // Wherever the page lies: it asks for its files beside itself.
  base: "./",
  plugins: [preact()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    // Each file is a file: the policy of the page lets nothing in that is written into it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
