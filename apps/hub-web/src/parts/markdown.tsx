import { codeKind, toViewLines } from "@harnesskit/approvals";
import { displayText } from "@harnesskit/wire";
import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
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
  return (
    <>
      {url === undefined ? (
        <Inline tokens={tokens} />
      ) : (
        <a href={url.href} title={visible(href)} target="_blank" rel="noreferrer noopener">
          <Inline tokens={tokens} />
        </a>
      )}
      {!isSaid && <span class="dim"> ({place})</span>}
    </>
  );
}

function InlineToken({ token }: { readonly token: Token }): ComponentChildren {
  const { tokens, text, raw } = token as Tokens.Generic;
  const inner =
    tokens === undefined ? <SafeText text={visible(String(text ?? raw))} /> : <Inline tokens={tokens} />;
  switch (token.type) {
    case "strong":
      return <strong>{inner}</strong>;
    case "em":
      return <em>{inner}</em>;
    case "del":
      return <del>{inner}</del>;
    case "codespan":
      return (
        <code>
          <SafeText text={visible(text)} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
      return <Link token={token as Tokens.Link} />;
    case "image":
      return (
        <span class="dim">
          [image: <SafeText text={visible(text)} />] ({visible((token as Tokens.Image).href)})
        </span>
      );
    case "html":
      return <SafeText text={visible(raw)} />;
    default:
      return inner;
  }
}

function Inline({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, index) => (
        <InlineToken key={`${index}`} token={token} />
      ))}
    </>
  );
}

function List({ token: { ordered, start, items } }: { readonly token: Tokens.List }) {
  const children = items.map(({ task, checked, tokens }, index) => (
    <li key={`${index}`}>
      {task && (checked === true ? "☑ " : "☐ ")}
      <Blocks tokens={tokens} />
    </li>
  ));
  return ordered ? <ol start={Number(start)}>{children}</ol> : <ul>{children}</ul>;
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, index) => (
              <th key={`${index}`} scope="col" class={align === "right" ? "number" : ""}>
                <Inline tokens={tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${at}`}>
              {row.map(({ tokens, align }, index) => (
                <td key={`${index}`} class={align === "right" ? "number" : ""}>
                  <Inline tokens={tokens} />
                </td>
              ))}
            </tr>
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

function Block({ token }: { readonly token: Token }): ComponentChildren {
  const { tokens, raw } = token as Tokens.Generic;
  const inner = tokens === undefined ? <SafeText text={visible(raw)} /> : <Inline tokens={tokens} />;
  switch (token.type) {
    case "space":
    case "checkbox":
      return null;
    case "heading":
      return <h3>{inner}</h3>;
    case "hr":
      return <hr />;
    case "list":
      return <List token={token as Tokens.List} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={tokens ?? []} />
        </blockquote>
      );
    case "code":
      return <Code token={token as Tokens.Code} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "text":
      return inner;
    default:
      return <p>{inner}</p>;
  }
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, index) => (
        <Block key={`${index}`} token={token} />
      ))}
    </>
  );
}

/** Markdown of a model, drawn from what the parser finds: no HTML of it reaches the page, no image is loaded, and nothing hides. */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => Lexer.lex(text.replaceAll("\r\n", "\n"), { gfm: true, breaks: true }), [text]);
  return (
    <div class="markdown" dir="auto">
      <Blocks tokens={tokens} />
    </div>
  );
}
