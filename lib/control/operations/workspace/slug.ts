import slugify from '@sindresorhus/slugify';
import type { Prisma, Workspace } from '#generated/client';
import { isUuid } from '#lib/control/operations/field/kinds';
import { conflict } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';

/**
 * First segments of addresses that cannot be slugs: of the console
 * and of calls, which are also served without their version (contract: operations/reserved-slugs).
 */
const reserved = new Set(
  (
    'account docs favicon forgot-password invite logo new operator reset robots sign-in sign-out sign-up static status verify welcome ' +
    'api audio chat embeddings files images messages models operations responses v1 v1alpha v1beta videos'
  ).split(' '),
);

/** Whether a slug is neither reserved nor an id. */
export function isFreeWord(slug: string): boolean {
  return !reserved.has(slug) && !isUuid(slug);
}

/** A slug from a name: "Ünited Labs!" → "uenited-labs", "Лаборатория" → "laboratoriya". */
function slugOf(text: string): string {
  const slug = slugify(text, { decamelize: false }).slice(0, 40).replace(/-+$/, '');
  if (slug === '') return 'workspace';
  return isFreeWord(slug) ? slug : `${slug}-workspace`;
}

/** How many workspaces may have the same name. */
const most = 1000;

/**
 * Inserts a workspace with the first free slug: name, name-2, name-3 … A former slug of another workspace
 * is not free, since it still works. However many have the name, it takes only a few statements.
 */
export async function insertWorkspace(
  { prisma, query }: Store,
  row: Omit<Prisma.WorkspaceCreateManyInput, 'slug'>,
): Promise<Workspace> {
  const base = slugOf(row.name);
  const slugs = Array.from({ length: most }, (_, at) => (at === 0 ? base : `${base}-${at + 1}`));
  // Others may take the same slug at the same time; the second one tries again.
  for (let tries = 0; tries < most; tries++) {
    const [free] = await query<{ slug: string }>(firstFree, [slugs]);
    if (!free) break;
    const [made] = await prisma.workspace.createManyAndReturn({
      data: [{ ...row, slug: free.slug }],
      skipDuplicates: true,
    });
    if (made) return made;
  }
  throw conflict('too many workspaces have this name; choose another', 'name');
}

const firstFree = `
  SELECT slug FROM unnest($1::text[]) WITH ORDINALITY AS given (slug, place)
  WHERE NOT EXISTS (SELECT FROM workspace w WHERE w.slug = given.slug)
    AND NOT EXISTS (SELECT FROM former_slug f WHERE f.slug = given.slug)
  ORDER BY place LIMIT 1`;
