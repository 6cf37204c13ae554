import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { askChat } from '#tests/support/chat-call';
import { operate } from '#tests/support/control/operate';
import { insist } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

/** More than either pool of the process has connections. */
const changes = 24;

describe('calls while operations wait (contract: durability/connections)', () => {
  it('a first call is funded although every connection of the operations waits for a lock', async () => {
    const locked = await stack.workspace();
    const given = { workspace: locked.slug, name: 'ci', role: 'owner' } as const;
    const { key: token } = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER);
    const calling = await stack.workspace();
    const { key } = await stack.key(calling.slug);
    const lock = await stack.db.pool.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('SELECT 1 FROM workspace WHERE id = $1 FOR UPDATE', [locked.id]);
      const changing = Array.from({ length: changes }, (_, number) =>
        fetch(`${stack.url}/api/v1/workspaces/${locked.slug}`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ name: `Name ${number}` }),
        }).then((answer) => answer.text()),
      );
      await insist(async () => {
        const { rows } = await stack.db.pool.query<{ waiting: number }>(
          `SELECT count(*)::integer AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(rows[0]?.waiting).toBeGreaterThan(4);
      });
      const { answer } = await askChat(stack.url, key, {});
      expect([answer.status, answer.body.toString()]).toEqual([200, expect.any(String)]);
      await lock.query('COMMIT');
      await Promise.all(changing);
    } finally {
      lock.release(true);
    }
  });

  it('a call waits 6 s in total for a balance that others have locked', async () => {
    const locked = await stack.workspace();
    const { key } = await stack.key(locked.slug);
    const lock = await stack.db.pool.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('SELECT 1 FROM workspace WHERE id = $1 FOR UPDATE', [locked.id]);
      const asked = askChat(stack.url, key, {});
      // Longer than one statement waits.
      await lock.query('SELECT pg_sleep(3)');
      await lock.query('COMMIT');
      expect((await asked).answer.status).toBe(200);
    } finally {
      lock.release(true);
    }
  });

  it('a call whose balance others keep locked says so, and not that the database is away (contract: admission/coordinator)', async () => {
    const locked = await stack.workspace();
    const { key } = await stack.key(locked.slug);
    const lock = await stack.db.pool.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('SELECT 1 FROM workspace WHERE id = $1 FOR UPDATE', [locked.id]);
      const { answer } = await askChat(stack.url, key, {});
      expect(answer.status).toBe(500);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        error: {
          code: 'local_quota_not_configured',
          message:
            "Other transactions have kept this workspace's balance locked for 6 s; retry in a few seconds.",
        },
      });
    } finally {
      lock.release(true);
    }
    expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
  });
});
