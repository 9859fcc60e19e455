import { line } from "../format.ts";
import { CopyButton } from "./controls.tsx";
import { SafeText } from "./safe-text.tsx";

/** The address that opens a file in Visual Studio Code; undefined for a path that depends on where it is read. */
const editorUrl = (path: string): string | undefined => {
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(path)) return undefined;
  const parts = path.replaceAll("\\", "/").replace(/^\//, "").split("/");
  return `vscode://file/${parts
    .map(encodeURIComponent)
    .join("/")
    .replace(/^([A-Za-z])%3A/, "$1:")}`;
};

/** A file's path: it opens in the editor where it is absolute, and is copied where it is not. */
export function FilePath({ path }: { readonly path: string }) {
  const url = editorUrl(path);
  const text = <SafeText text={line(path, 300)} />;
  if (url !== undefined)
    return (
      <a class="file-path" href={url} title="Open in the editor">
        {text}
      </a>
    );
  return (
    <CopyButton look="file-path link" title="Copy the path" text={path}>
      {text}
    </CopyButton>
  );
}
