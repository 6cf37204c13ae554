import type { MarkedToken, Token, Tokens } from 'marked';
import type { ReactNode } from 'react';
import { Inline, inOrder, known } from '#components/docs/inline';
import { CodeBlock } from '#components/ui/code-block';
import { ScrollRegion } from '#components/ui/scroll-region';
import { anchorOf } from '#lib/console/guide/pages';

type Generated = Readonly<Record<string, ReactNode>>;

interface MarkdownProps {
  tokens: readonly Token[];
  /** What replaces `<!-- generated: NAME -->`. */
  generated?: Generated;
}

/** Text of the guide. HTML in it is left out. */
export function Markdown({ tokens, generated = {} }: MarkdownProps) {
  return inOrder(withoutReplaced(tokens, generated).map((token) => drawBlock(known(token), generated)));
}

/** Removes the text that generated parts replace; it is in the file for those who read it elsewhere. */
function withoutReplaced(tokens: readonly Token[], generated: Generated): Token[] {
  const ended = new Set(tokens.flatMap(({ raw }) => /^<!-- end of ([a-z-]+) -->/.exec(raw)?.[1] ?? []));
  let inside = false;
  return tokens.filter(({ raw }) => {
    const before = inside;
    const name = /^<!-- generated: ([a-z-]+) -->/.exec(raw)?.[1] ?? '';
    if (name in generated && ended.has(name)) inside = true;
    if (raw.startsWith('<!-- end of ')) inside = false;
    return !before;
  });
}

function drawBlock(token: MarkedToken, generated: Generated): ReactNode {
  switch (token.type) {
    case 'heading':
      return <Heading token={token} />;
    case 'paragraph':
      return (
        <p className="leading-6">
          <Inline tokens={token.tokens} />
        </p>
      );
    case 'code':
      return <CodeBlock code={token.text} what={codeName(token)} />;
    case 'list':
      return <List token={token} generated={generated} />;
    case 'table':
      return <GuideTable token={token} />;
    case 'html':
      return generated[/^<!-- generated: ([a-z-]+) -->/.exec(token.raw)?.[1] ?? ''] ?? null;
    case 'text':
      return <Inline tokens={token.tokens ?? [token]} />;
    default:
      return null;
  }
}

/** For the copy button's accessible name. */
function codeName({ lang }: Tokens.Code): string {
  return /label="([^"]+)"/.exec(lang ?? '')?.[1] ?? 'these lines';
}

function Heading({ token }: { token: Tokens.Heading }) {
  const id = anchorOf(token.text.replace(/[*`]/g, ''));
  const Name = token.depth === 2 ? 'h2' : 'h3';
  return (
    <Name
      id={id}
      className={
        token.depth === 2
          ? 'mt-5 scroll-mt-20 font-semibold text-lg tracking-tight'
          : 'mt-2 scroll-mt-20 font-semibold'
      }
    >
      <a href={`#${id}`} className="hover:underline">
        <Inline tokens={token.tokens} />
      </a>
    </Name>
  );
}

function List({ token, generated }: { token: Tokens.List; generated: Generated }) {
  const Name = token.ordered ? 'ol' : 'ul';
  return (
    <Name
      className={`grid gap-1.5 pl-5 leading-6 marker:text-muted ${token.ordered ? 'list-decimal' : 'list-disc'}`}
    >
      {inOrder(token.items.map((item) => drawItem(item, generated)))}
    </Name>
  );
}

function drawItem({ tokens }: Tokens.ListItem, generated: Generated) {
  return (
    <li>
      <Markdown tokens={tokens} generated={generated} />
    </li>
  );
}

function drawCell({ tokens }: Tokens.TableCell) {
  return (
    <td className="min-w-24 px-3 py-2 leading-5">
      <Inline tokens={tokens} />
    </td>
  );
}

function GuideTable({ token }: { token: Tokens.Table }) {
  return (
    <ScrollRegion
      label={`${token.header.map(({ text }) => text).join(', ')}: ${token.rows[0]?.[0]?.text ?? ''}`}
      className="rounded-lg border bg-surface"
    >
      <table className="w-full text-sm">
        <thead>
          <tr className="bg-sunken/70">
            {token.header.map((cell) => (
              <th key={cell.text} scope="col" className="px-3 py-2 text-left font-medium text-muted text-xs">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr key={row.map(({ text }) => text).join(' ')} className="border-t align-top">
              {inOrder(row.map(drawCell))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
