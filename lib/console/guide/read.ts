import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lexer, type Token } from 'marked';
import { anchorOf, exampleAddress, type GuideSlug, guidePages } from '#lib/console/guide/pages';

/** A page of the guide, parsed but not rendered. */
export interface GuidePage {
  readonly slug: GuideSlug;
  readonly title: string;
  /** Its first paragraph, as plain text. */
  readonly summary: string;
  /** Everything after the title. */
  readonly tokens: readonly Token[];
  readonly headings: readonly { readonly id: string; readonly text: string }[];
}

const read = new Map<string, Promise<GuidePage>>();

/** @param baseUrl of this gateway, without a trailing slash, for the examples. */
export function readGuidePage(slug: GuideSlug, baseUrl: string): Promise<GuidePage> {
  const name = `${slug} ${baseUrl}`;
  const known = read.get(name);
  if (known) return known;
  const page = readSource(slug).then((text) => pageOf(slug, text.replaceAll(exampleAddress, baseUrl)));
  read.set(name, page);
  page.catch(() => read.delete(name));
  return page;
}

export function readGuide(baseUrl: string): Promise<GuidePage[]> {
  return Promise.all(guidePages.map(({ slug }) => readGuidePage(slug, baseUrl)));
}

/** The pages in the list beside each of them, with the changelog at the end. */
export function navigationOf(pages: readonly GuidePage[]): { slug: string; title: string; group: string }[] {
  return [
    ...pages.map(({ slug, title }, at) => ({ slug, title, group: guidePages[at]?.group ?? '' })),
    { slug: 'changelog', title: 'Changelog', group: 'Operate' },
  ];
}

function readSource(slug: GuideSlug): Promise<string> {
  return readFile(join(process.cwd(), 'docs', 'guide', `${slug}.md`), 'utf8');
}

/** Pure. @throws Error if the text does not begin with a title. */
function pageOf<Slug extends string>(
  slug: Slug,
  text: string,
): Omit<GuidePage, 'slug'> & { readonly slug: Slug } {
  const [title, ...tokens] = lexer(text);
  if (title?.type !== 'heading' || title.depth !== 1) throw new Error(`the page ${slug} has no title`);
  const first = tokens.find(({ type }) => type === 'paragraph');
  return {
    slug,
    title: String(title.text),
    summary: plain(first?.type === 'paragraph' ? String(first.text) : ''),
    tokens,
    headings: tokens.flatMap((token) =>
      token.type === 'heading' && token.depth === 2
        ? [{ id: anchorOf(plain(String(token.text))), text: plain(String(token.text)) }]
        : [],
    ),
  };
}

/** What is new in each version, from CHANGELOG.md at the root. */
export interface Changelog extends Omit<GuidePage, 'slug'> {
  readonly slug: 'changelog';
}

let changelog: Promise<Changelog> | null = null;

/** Read once: a new version is a new process. */
export function readChangelog(): Promise<Changelog> {
  changelog ??= readFile(join(process.cwd(), 'CHANGELOG.md'), 'utf8').then((text) =>
    pageOf('changelog', text),
  );
  changelog.catch(() => {
    changelog = null;
  });
  return changelog;
}

/** A line of Markdown without its markup. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ');
}
