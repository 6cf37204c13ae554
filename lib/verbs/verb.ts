import { z } from 'zod';
import { Prisma } from '#generated/client';
import { systemClock } from '#lib/clock';
import { type Change, publish, sqlOf } from '#lib/data/change';
import type { Db } from '#lib/data/db';
import { createIds } from '#lib/ids';

/** What a verb may use inside its one transaction. */
export type Tx = Prisma.TransactionClient;

/** A mutation that was refused: the message says what to do instead; nothing was changed. */
export class VerbRefused extends Error {
  /** The input that is at fault, dotted ("models.0"); null when it is not one field. */
  readonly field: string | null;
  constructor(message: string, field: string | null = null) {
    super(message);
    this.name = 'VerbRefused';
    this.field = field;
  }
}

/** A row of the audit trail: every transition is one (decisions §9). */
export interface AuditRow {
  readonly workspaceId: string | null;
  /** "key.revoke". */
  readonly action: string;
  readonly subject: string;
  /** What changed, money in dollars; never a secret. */
  readonly detail: Record<string, unknown>;
}

/** How a verb ended: its answer, its audit row (null: nothing was changed) and who must learn of it. */
export interface Done<R> {
  readonly result: R;
  readonly audit: AuditRow | null;
  readonly changes: readonly Change[];
}

const ids = createIds(systemClock);

/** A new row id (UUIDv7). @throws VerbRefused when the machine's clock is outside 2025–2100. */
export function newRowId(): string {
  const id = ids.newId();
  if (id === null) throw new VerbRefused("the machine's clock is far off; set it, then try again");
  return id;
}

/** Reads a verb's input. @throws VerbRefused with the first fault. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? null : issue.path.join('.');
  const message = issue?.message ?? 'the input cannot be read';
  throw new VerbRefused(field === null ? message : `${field}: ${message}`, field);
}

/**
 * The one shape of a mutation: the work, its audit row, and the change feed last, in one transaction.
 * @param actor who does it: a user's id, or "command line".
 * @throws VerbRefused from the work; then nothing was changed.
 */
export async function runVerb<R>(db: Db, actor: string, work: (tx: Tx) => Promise<Done<R>>): Promise<R> {
  return db.prisma.$transaction(
    async (tx) => {
      const { result, audit, changes } = await work(tx);
      if (audit !== null) await writeAudit(tx, actor, audit);
      await publish(sqlOf(tx), changes);
      return result;
    },
    { maxWait: 5_000, timeout: 10_000, isolationLevel: Prisma.TransactionIsolationLevel.ReadCommitted },
  );
}

/** Writes the audit row of a verb whose work publishes by itself. */
export async function writeAudit(tx: Tx, actor: string, row: AuditRow): Promise<void> {
  await tx.audit.create({ data: { id: newRowId(), ...row, actor, detail: jsonOf(row.detail) } });
}

/** Plain JSON of an audit detail: what was not given is left out, other values go through their own JSON. */
function jsonOf(detail: Record<string, unknown>): Prisma.InputJsonObject {
  return z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(detail))) as Prisma.InputJsonObject;
}
