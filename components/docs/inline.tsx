import type { MarkedToken, Token } from 'marked';
import Link from 'next/link';
import { createElement, Fragment, type ReactNode } from 'react';
import { guideHref } from '#lib/console/guide/pages';

/**
 * Inline content of a paragraph. HTML is left out and invalid links become text, so that a page contains only
 * elements that are rendered here.
 */
export function Inline({ tokens }: { tokens: readonly Token[] | undefined }): ReactNode {
  return inOrder((tokens ?? []).map((token) => drawInline(known(token))));
}

/** Parts of a text; their order never changes, so they need no keys. */
export function inOrder(parts: readonly ReactNode[]): ReactNode {
  return createElement(Fragment, null, ...parts);
}

/** The parser has no extensions, so it returns only its own tokens. */
export function known(token: Token): MarkedToken {
  return token as MarkedToken;
}

function drawInline(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'strong':
      return (
        <strong className="font-semibold">
          <Inline tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case 'codespan':
      return (
        <code className="rounded bg-hover px-1 py-0.5 font-mono text-[0.85em] [overflow-wrap:anywhere]">
          {token.text}
        </code>
      );
    case 'link':
      return (
        <GuideLink href={token.href}>
          <Inline tokens={token.tokens} />
        </GuideLink>
      );
    case 'br':
      return <br />;
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? <Inline tokens={token.tokens} /> : unescaped(token.text);
    default:
      return null;
  }
}

function GuideLink({ href, children }: { href: string; children: ReactNode }) {
  const to = guideHref(href);
  if (to === null) return <>{children}</>;
  const look = 'text-accent-ink underline decoration-1 underline-offset-2 hover:decoration-2';
  if (!to.startsWith('/')) {
    return (
      <a href={to} className={look} {...(to.startsWith('http') ? { rel: 'noreferrer' } : {})}>
        {children}
      </a>
    );
  }
  return (
    <Link href={to} prefetch={false} className={look}>
      {children}
    </Link>
  );
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The parser escapes text for HTML; React would escape it again. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
