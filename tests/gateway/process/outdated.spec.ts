import { expect, it } from 'vitest';
import { askChat, codeOf, jsonOf } from '#tests/support/chat-call';
import { startStack } from '#tests/support/stack';

const admitted = async (url: string) => (await fetch(`${url}/api/health`)).status;

it.each(['journal', 'database'])(
  'a process that cannot settle in a migrated database admits no calls, and loses none (contract: durability/outdated): %s',
  async (settlement) => {
    const stack = await startStack({ env: { SETTLEMENT: settlement } });
    const { slug } = await stack.workspace({ credit: '10' });
    const { key } = await stack.key(slug);
    expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
    await stack.db.pool.query('ALTER TABLE usage_quarter RENAME TO usage_quarter_of_the_next_version');
    const last = await askChat(stack.url, key, {});
    await expect.poll(() => admitted(stack.url)).toBe(503);
    const { answer: refused } = await askChat(stack.url, key, {});
    expect(refused.status).toBe(500);
    expect(codeOf(refused)).toBe('local_quota_not_configured');
    expect(JSON.stringify(jsonOf(refused))).toContain('a newer version has migrated its database');
    expect(stack.log().split('Start the new version on the same DATA_DIR')).toHaveLength(2);

    await stack.db.pool.query('ALTER TABLE usage_quarter_of_the_next_version RENAME TO usage_quarter');
    await expect.poll(() => admitted(stack.url)).toBe(200);
    // By database the charge could not be written, and the client was told so; by journal it had its answer.
    expect(last.answer.status).toBe(settlement === 'journal' ? 200 : 500);
    expect(await stack.call(last.id)).toMatchObject({
      status: settlement === 'journal' ? 200 : 500,
    });
    await stack.close();
  },
);
