import { isBuiltin } from "node:module";
import ts from "typescript";
import { packageOf } from "./layers.mjs";
import { importsOf } from "./source-rules.mjs";

const resolvedOf = (code) =>
  Array.from(code.matchAll(/import\.meta\.resolve\("([^"]+)"\)/g), ([, specifier]) => ({ specifier }));

/** The packages that a piece of TypeScript imports or resolves, Node's own left out. */
export const packagesOf = (code) => [
  ...new Set(
    [...importsOf(code), ...resolvedOf(code)]
      .map(({ specifier }) => specifier)
      .filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier))
      .map(packageOf),
  ),
];

/** The JavaScript (an ES module) of a TypeScript snippet; types are dropped, not checked. */
export const toJavaScript = (code) =>
  ts.transpileModule(code, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  }).outputText;
