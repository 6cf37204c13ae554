import type { Pool } from 'pg';
import { type ObjectWriter, objectName } from '#lib/gateway/content/objects/object-store';
import type { ContentOwner } from '#lib/gateway/content/stored';
import { type Query, queryWithin } from '#lib/platform/data/query-within';

const STATEMENT_MS = 5_000;
/** How long writing a batch to the object store is tried; what its rows say is valid for longer, ms. */
const OBJECTS_MS = 20 * 60_000;

/** What is known of a call whose content is kept. */
export interface KeptFacts extends ContentOwner {
  readonly keyId: string;
  /** When the call began, ms since the epoch. */
  readonly atMs: number;
  /** Until when it may be read, ms since the epoch. */
  readonly keepUntilMs: number;
}

export interface SealedContent {
  readonly facts: KeptFacts;
  readonly sealed: Buffer;
}

/** Where content is kept. */
export interface ContentPlace {
  /** Batches that are written at the same time. */
  readonly lanes: number;
  /**
   * Begins to write a batch.
   * @returns writes what is not yet written; after a failure it may be called again. It returns how many were kept, and
   * throws NotKept if trying again would not help.
   */
  begin(batch: readonly SealedContent[]): () => Promise<number>;
}

/** It cannot be kept, however often it is tried. */
export class NotKept extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotKept';
  }
}

const columns = 'call_id, workspace_id, key_id, at, keep_until';
const insert = `
  INSERT INTO call_content (${columns}, sealed)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::bytea[])
  ON CONFLICT DO NOTHING`;

/** Keeps content in the database. */
export function inDatabase(pool: Pool): ContentPlace {
  const query = queryWithin(pool, STATEMENT_MS);
  return {
    lanes: 1,
    begin: (batch) => async () => {
      await asked(query, insert, [...columnsOf(batch), batch.map(({ sealed }) => sealed)]);
      return batch.length;
    },
  };
}

const announce = `
  INSERT INTO content_object (name, delete_after)
  SELECT unnest($1::text[]), now() + interval '1 hour' ON CONFLICT DO NOTHING`;

/** Not if a sweep may have it: that takes only rows that are more than half an hour older. */
const link = `
  WITH mine AS (
    SELECT c.* FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::text[])
      AS c (${columns}, name)
    JOIN content_object o ON o.name = c.name AND o.call_id IS NULL
      AND o.delete_after > now() + interval '30 minutes'
  ), kept AS (
    INSERT INTO call_content (${columns}) SELECT ${columns} FROM mine ON CONFLICT DO NOTHING RETURNING call_id
  )
  UPDATE content_object o SET call_id = m.call_id FROM mine m JOIN kept USING (call_id) WHERE o.name = m.name`;

const count =
  'SELECT count(*)::int AS kept FROM content_object WHERE name = ANY ($1::text[]) AND call_id IS NOT NULL';

/**
 * Keeps content in an object store: first a row that names the object, then the object, then the row of the content. At
 * whatever point a process is killed, a row leads to the object, and `deleteObjects` deletes it.
 */
export function inObjects(
  pool: Pool,
  store: ObjectWriter,
  target: { readonly bucket: string; readonly prefix: string },
): ContentPlace {
  const query = queryWithin(pool, STATEMENT_MS);
  return {
    lanes: 4,
    begin: (batch) => {
      const untilMono = performance.now() + OBJECTS_MS;
      const names = batch.map(({ facts }) => objectName(target, `${facts.workspaceId}/${facts.callId}`));
      const left = new Set(batch.keys());
      let announced = false;
      return async () => {
        if (performance.now() > untilMono) throw new NotKept('the content store took nothing for 20 minutes');
        if (!announced) await asked(query, announce, [names]);
        announced = true;
        const put = async (at: number) => {
          await store.put(names[at] ?? '', batch[at]?.sealed ?? Buffer.alloc(0));
          left.delete(at);
        };
        const failed = (await Promise.allSettled([...left].map(put))).find(
          (one) => one.status === 'rejected',
        );
        if (failed) throw failed.reason;
        await asked(query, link, [...columnsOf(batch), names]);
        // Not the rows of this statement: the answer to an earlier one may have been lost.
        return (await query<{ kept: number }>(count, [names])).rows[0]?.kept ?? 0;
      };
    },
  };
}

function columnsOf(batch: readonly SealedContent[]): readonly unknown[] {
  const column = <T>(of: (facts: KeptFacts) => T) => batch.map(({ facts }) => of(facts));
  return [
    column(({ callId }) => callId),
    column(({ workspaceId }) => workspaceId),
    column(({ keyId }) => keyId),
    column(({ atMs }) => new Date(atMs)),
    column(({ keepUntilMs }) => new Date(keepUntilMs)),
  ];
}

/** @throws NotKept for bad data or a violated constraint. */
async function asked(query: Query, text: string, values: readonly unknown[]): Promise<void> {
  try {
    await query(text, values);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^2[23]/.test(code)) throw error;
    throw new NotKept('the database refuses the rows of content', { cause: error });
  }
}
