import { z } from 'zod';
import type { Prisma } from '#generated/client';
import { recallLeases } from '#lib/billing/ledger';
import { isUuid } from '#lib/control/field/kinds';
import { sqlOf } from '#lib/data/change';
import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';
import { allowance, limit, name, timeZone } from '#lib/verbs/inputs';
import { lockWorkspace } from '#lib/verbs/subject';
import { newRowId, parseInput, runVerb, type Tx, VerbRefused } from '#lib/verbs/verb';

const settings = {
  credit: allowance.optional(),
  timeZone: timeZone.optional(),
  rpm: limit.optional(),
  tpm: limit.optional(),
  concurrency: limit.optional(),
  strict: z.boolean().optional(),
};
const createSchema = z.strictObject({ name, ...settings, ownerId: z.uuid().optional() });
const setSchema = z.strictObject({
  workspace: z.string(),
  name: name.optional(),
  ...settings,
  suspended: z.boolean().optional(),
});

export type CreateWorkspaceInput = z.input<typeof createSchema>;
export type SetWorkspaceInput = z.input<typeof setSchema>;

/**
 * First segments of addresses that are no workspace's: of the console (operations.md "Console addresses")
 * and of calls, which are served without their version too (decisions §3 "Addresses").
 */
const reserved = new Set(
  (
    'account docs favicon forgot-password invite logo new operator reset robots sign-in sign-out sign-up static status verify welcome ' +
    'api audio chat embeddings files images messages models operations responses v1 v1alpha v1beta videos'
  ).split(' '),
);

/** A slug from a name: "Ünited Labs!" → "united-labs". */
function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  if (slug === '') return 'workspace';
  return reserved.has(slug) || isUuid(slug) ? `${slug}-workspace` : slug;
}

/**
 * Makes a workspace; without other word it has 600 RPM, 4,000,000 TPM and 50 concurrent calls
 * (decisions §8). `ownerId` becomes its first member.
 */
export async function createWorkspace(
  db: Db,
  actor: string,
  input: CreateWorkspaceInput,
): Promise<{ id: string; slug: string }> {
  const wanted = parseInput(createSchema, input);
  return runVerb(db, actor, async (tx) => {
    const id = newRowId();
    const slug = await insert(tx, wanted.name, {
      id,
      name: wanted.name,
      timeZone: wanted.timeZone ?? 'UTC',
      creditNano: wanted.credit ?? 0n,
      strict: wanted.strict ?? false,
      rpm: wanted.rpm === undefined ? 600 : wanted.rpm,
      tpm: wanted.tpm === undefined ? 4_000_000 : wanted.tpm,
      concurrency: wanted.concurrency === undefined ? 50 : wanted.concurrency,
    });
    if (wanted.ownerId !== undefined) {
      await tx.member.create({ data: { workspaceId: id, userId: wanted.ownerId, role: 'owner' } });
    }
    return {
      result: { id, slug },
      audit: { workspaceId: id, action: 'workspace.create', subject: id, detail: shown(wanted) },
      changes: [{ kind: 'workspace', subject: id }],
    };
  });
}

/** Inserts under the first free slug: name, name-2, name-3 … */
async function insert(
  tx: Tx,
  workspaceName: string,
  row: Omit<Prisma.WorkspaceCreateManyInput, 'slug'>,
): Promise<string> {
  const base = slugOf(workspaceName);
  for (let n = 1; n <= 1000; n++) {
    const slug = n === 1 ? base : `${base}-${n}`;
    const { count } = await tx.workspace.createMany({ data: [{ ...row, slug }], skipDuplicates: true });
    if (count === 1) return slug;
  }
  throw new VerbRefused('too many workspaces have this name; choose another', 'name');
}

/** Changes what is given of a workspace; null or "none" removes a limit. The slug stays. */
export async function setWorkspace(
  db: Db,
  actor: string,
  input: SetWorkspaceInput,
): Promise<{ id: string; slug: string }> {
  const { workspace, suspended, credit, ...rest } = parseInput(setSchema, input);
  return runVerb(db, actor, async (tx) => {
    const { id, slug, creditNano, suspendedAt } = await lockWorkspace(tx, workspace);
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    await tx.workspace.update({
      where: { id },
      data: {
        ...given,
        ...(credit === undefined ? {} : { creditNano: credit }),
        ...(suspended === undefined ? {} : { suspendedAt: suspended ? (suspendedAt ?? new Date()) : null }),
      },
    });
    const lowered = credit !== undefined && credit < creditNano;
    const recalled = lowered ? [await recallLeases(sqlOf(tx), id)] : [];
    const detail = shown({ ...rest, credit, suspended });
    return {
      result: { id, slug },
      audit: { workspaceId: id, action: 'workspace.set', subject: id, detail },
      changes: [{ kind: 'workspace', subject: id }, ...recalled],
    };
  });
}

function shown(wanted: Record<string, unknown> & { credit?: bigint | undefined }): Record<string, unknown> {
  return { ...wanted, credit: wanted.credit === undefined ? undefined : formatUsd(wanted.credit) };
}
