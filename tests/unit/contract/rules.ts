import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { listFiles } from '#tests/support/imports';

export interface TextFile {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
}

const folder = 'docs/contract';

/** Files of the project whose names end in one of `endings`, with their text. */
export function readTexts(endings: readonly string[]): TextFile[] {
  return listFiles('')
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** The pages of the contract by name ("money"), each with the names of its rules in order. */
export function readRules(): Map<string, string[]> {
  const pages = listFiles(folder).filter((path) => path.endsWith('.md') && !path.endsWith('README.md'));
  return new Map(
    pages.map((path) => {
      const text = readFileSync(path, 'utf8');
      return [path.slice(folder.length + 1, -'.md'.length), headingsOf(text, /^### (.+)$/gm)];
    }),
  );
}

/** Rules cited in a text, as "page/rule"; a citation of another form stands as it is. */
export function citedIn(text: string): string[] {
  return [...text.matchAll(/(?:\(contract:|\bcontract:(?= ?[a-z-]+\/))(.*)/g)].flatMap(
    ([found, rest = '']) => {
      const list =
        found.startsWith('(') && /^ ([a-z-]+\/[a-z0-9-]+(?:, [a-z-]+\/[a-z0-9-]+)*)\)/.exec(rest)?.[1];
      return list ? list.split(', ') : [found];
    },
  );
}

const pagesElsewhere =
  /(?<!RFC \d{4} )§ ?\d|\(protocols: |\b(?:decisions|architecture) §|(?<![\w/-])(?:decisions|architecture|operations|service|reliability|protocols|console|stack|peers|codebases|findings)\.md\b/g;

/** Citations of pages that are not in the repository, or of their numbered sections. */
export function citedElsewhere(text: string): string[] {
  return text.match(pagesElsewhere) ?? [];
}

/** Links of a Markdown page to files and headings of the project that are not there. */
export function brokenLinks({ path, text }: TextFile): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(target)) return true;
    if (anchor === undefined) return false;
    return !headingsOf(readFileSync(target, 'utf8'), /^#+ (.+)$/gm)
      .map(anchorOf)
      .includes(anchor);
  });
}

/** Headings of a page that GitHub gives the same anchor. */
export function ambiguousAnchors(text: string): string[] {
  const anchors = headingsOf(text, /^#+ (.+)$/gm).map(anchorOf);
  return anchors.filter((anchor, at) => anchors.indexOf(anchor) !== at);
}

function headingsOf(text: string, heading: RegExp): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(heading)].map(([, name = '']) => name.trim());
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
