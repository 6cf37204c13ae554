import { z } from 'zod';
import { change } from '#lib/control/operations/declare';
import { pattern } from '#lib/control/operations/field/kinds';
import { badInput, conflict } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { isFreeWord } from '#lib/control/operations/workspace/slug';

/** Each stays reserved forever, so the number of renames is limited. */
const mostFormer = 20;
const slugRule = 'must be 1 to 50 lower-case letters, digits and dashes, with a letter or digit at both ends';

/** Old addresses redirect to the new one, so a former slug is not available to others. */
export const renameWorkspace = change({
  name: 'workspace.rename',
  summary: 'Changes the slug of a workspace; its old addresses still work.',
  reach: 'workspace',
  permission: 'workspace:write',
  exclusive: true,
  fields: {
    slug: pattern(
      { label: 'Slug', help: 'Used in the addresses of pages and of the API.', example: 'acme-labs' },
      /^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/,
      slugRule,
    ),
  },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  http: [{ method: 'POST', path: '/workspaces/{workspace}/rename' }],
  line: { arguments: ['workspace'] },
  text: ({ slug }) => `the slug is now ${slug}; the old address still works`,
  run: async ({ store, scope, role }, { slug }) => {
    const { workspaceId: id, slug: before } = scope;
    const done = { result: { id, slug }, subject: id, workspaceId: id };
    const changes = [{ kind: 'workspace' as const, subject: id }];
    if (slug === before) return { ...done, before: { slug }, after: { slug }, changes };
    if (!isFreeWord(slug))
      throw badInput('slug', 'this word is reserved for an address of the console; choose another one');
    const kept = { workspaceId: id, slug: { not: slug } };
    if (role !== 'operator' && (await store.prisma.formerSlug.count({ where: kept })) >= mostFormer) {
      const text = `a workspace may have at most ${mostFormer} former slugs; use one of them again, or ask the operator`;
      throw conflict(text, 'slug');
    }
    await takeSlug(store, id, slug);
    // A former slug becomes the current one again.
    await store.prisma.formerSlug.deleteMany({ where: { slug, workspaceId: id } });
    await store.prisma.formerSlug.createMany({
      data: [{ slug: before, workspaceId: id }],
      skipDuplicates: true,
    });
    return { ...done, before: { slug: before }, after: { slug }, changes };
  },
});

/** @throws ControlRefused (conflict) if another workspace has or had the slug. */
async function takeSlug({ prisma, query }: Store, id: string, slug: string): Promise<void> {
  const taken = () => conflict('another workspace has or had this slug; choose another one', 'slug');
  if ((await prisma.workspace.count({ where: { slug, id: { not: id } } })) > 0) throw taken();
  const [moved] = await query<{ id: string }>(
    `UPDATE workspace SET slug = $2 WHERE id = $1::uuid RETURNING id::text AS id`,
    [id, slug],
  ).catch((error: unknown) => {
    // Another workspace took it at the same moment.
    throw isUniqueViolation(error) ? taken() : error;
  });
  // After the update, which has waited for a workspace that is just giving this slug up and keeps it.
  const others = { slug, workspaceId: { not: id } };
  if (moved === undefined || (await prisma.formerSlug.count({ where: others })) > 0) throw taken();
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && /23505|unique constraint/i.test(error.message);
}
