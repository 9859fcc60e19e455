import { codeKind, toViewLines } from "@harnesskit/approvals";
import { displayText } from "@harnesskit/wire";
import { Lexer, type Token, type Tokens } from "marked";
import { type ComponentChildren, h } from "preact";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { SafeText } from "./safe-text.tsx";

const visible = (text: string): string =>
  displayText(text, { multiline: true, maxLength: Number.POSITIVE_INFINITY });

/** The address of a link that may be opened; undefined for one of another kind. */
const safeUrl = (href: string): URL | undefined => {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return ["https:", "http:", "mailto:"].includes(url.protocol) ? url : undefined;
};

/** Where a link leads is always said: its words are the model's. */
function Link({ token: { href, text, tokens } }: { readonly token: Tokens.Link }) {
  const url = safeUrl(href);
  const place = url === undefined ? visible(href) : url.host || visible(href);
  const isSaid = text === href || text === place;
  const words = <Pieces tokens={tokens} />;
  return (
    <>
      {url === undefined ? (
        words
      ) : (
        <a href={url.href} title={visible(href)} target="_blank" rel="noreferrer noopener">
          {words}
        </a>
      )}
      {!isSaid && <span class="dim"> ({place})</span>}
    </>
  );
}

function List({ token: { ordered, start, items } }: { readonly token: Tokens.List }) {
  const children = items.map(({ task, checked, tokens }, index) => (
    <li key={`${index}`}>
      {task && (checked === true ? "☑ " : "☐ ")}
      <Pieces tokens={tokens} />
    </li>
  ));
  return ordered ? <ol start={Number(start)}>{children}</ol> : <ul>{children}</ul>;
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }) {
  const cellsOf = (cells: readonly Tokens.TableCell[], tag: "th" | "td") =>
    cells.map(({ tokens, align }, index) =>
      h(tag, { key: index, class: align === "right" ? "number" : "" }, <Pieces tokens={tokens} />),
    );
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>{cellsOf(header, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${at}`}>{cellsOf(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Code({ token: { text, lang = "" } }: { readonly token: Tokens.Code }) {
  const kind = codeKind(lang) ?? "prompt";
  const lines = toViewLines(text, kind === "diff", { maxLines: text.length + 1, maxLength: text.length });
  const label = lang === "" ? "code" : displayText(lang, { maxLength: 60 });
  return <CodeBlock part={{ kind, label, lines }} language={/^\w+/.exec(lang)?.[0].toLowerCase()} />;
}

/** The elements of tokens that only hold others. */
const elements: Readonly<Record<string, string>> = {
  ...{ strong: "strong", em: "em", del: "del", codespan: "code" },
  ...{ paragraph: "p", heading: "h3", blockquote: "blockquote" },
};

function Piece({ token }: { readonly token: Token }): ComponentChildren {
  const { type, tokens, text, raw } = token as Tokens.Generic;
  if (type === "space" || type === "checkbox") return null;
  if (type === "br" || type === "hr") return h(type, null);
  if (type === "link") return <Link token={token as Tokens.Link} />;
  if (type === "list") return <List token={token as Tokens.List} />;
  if (type === "code") return <Code token={token as Tokens.Code} />;
  if (type === "table") return <Table token={token as Tokens.Table} />;
  if (type === "html") return <SafeText text={visible(raw)} />;
  if (type === "image")
    return (
      <span class="dim">
        [image: <SafeText text={visible(text)} />] ({visible((token as Tokens.Image).href)})
      </span>
    );
  const inner =
    tokens === undefined ? <SafeText text={visible(String(text ?? raw))} /> : <Pieces tokens={tokens} />;
  const element = elements[type];
  return element === undefined ? inner : h(element, null, inner);
}

function Pieces({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, index) => (
        <Piece key={`${index}`} token={token} />
      ))}
    </>
  );
}

/** Markdown of a model, drawn from what the parser finds: no HTML of it reaches the page, no image is loaded, and nothing hides. */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => Lexer.lex(text.replaceAll("\r\n", "\n"), { gfm: true, breaks: true }), [text]);
  return (
    <div class="markdown" dir="auto">
      <Pieces tokens={tokens} />
    </div>
  );
}
