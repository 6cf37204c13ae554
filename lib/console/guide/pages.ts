/** The pages of the documentation, in reading order; each is a file in `docs/guide`. */
export const guidePages = [
  { slug: 'quickstart', group: 'Start' },
  { slug: 'tools', group: 'Start' },
  { slug: 'authentication', group: 'Calls' },
  { slug: 'families', group: 'Calls' },
  { slug: 'batches', group: 'Calls' },
  { slug: 'errors', group: 'Calls' },
  { slug: 'limits', group: 'Calls' },
  { slug: 'routing', group: 'Workspace' },
  { slug: 'content', group: 'Workspace' },
  { slug: 'tags', group: 'Workspace' },
  { slug: 'billing', group: 'Workspace' },
  { slug: 'webhooks', group: 'Workspace' },
  { slug: 'management-api', group: 'Operate' },
  { slug: 'self-hosting', group: 'Operate' },
  { slug: 'clouds', group: 'Operate' },
  { slug: 'deployment', group: 'Operate' },
  { slug: 'docker-compose', group: 'Operate' },
  { slug: 'kubernetes', group: 'Operate' },
  { slug: 'linux', group: 'Operate' },
  { slug: 'postgresql', group: 'Operate' },
  { slug: 'telemetry', group: 'Operate' },
  { slug: 'tracing-services', group: 'Operate' },
] as const;

export type GuideSlug = (typeof guidePages)[number]['slug'];

/** The gateway's URL in the examples of the guide; the console replaces it with its own. */
export const exampleAddress = 'http://localhost:3000';

/** The anchor of a heading, the same as on code hosts: "What survives what?" → "what-survives-what". */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/**
 * Where a link of the guide points on the console: "errors.md#not_found" → "/docs/errors#not_found". null:
 * nowhere.
 */
export function guideHref(href: string): string | null {
  const page = /^(?:\.\.\/guide\/|docs\/guide\/)?([a-z-]+)\.md(#.*)?$/.exec(href);
  if (page)
    return guidePages.some(({ slug }) => slug === page[1]) ? `/docs/${page[1]}${page[2] ?? ''}` : null;
  return /^(?:\/(?!\/)|#|https?:\/\/)/.test(href) ? href : null;
}

/** @returns null: there is no such page. */
export function findGuidePage(slug: string): (typeof guidePages)[number] | null {
  return guidePages.find((page) => page.slug === slug) ?? null;
}
