import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operate } from '#tests/support/control/operate';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

let stack: OwnStack;
let committing: (() => void) | null = null;
beforeAll(async () => {
  stack = await startStack({ watchDatabase });
});
afterAll(() => stack.close());

/** Tells when the transaction that claimed an Idempotency-Key is sent its COMMIT. */
function watchDatabase(): (bytes: Buffer) => void {
  let claimed = false;
  return (bytes) => {
    const text = bytes.toString('latin1');
    claimed ||= text.includes('INSERT INTO stored_answer');
    if (claimed && text.includes('COMMIT')) committing?.();
  };
}

it('a create that the gateway was killed in, between commit and answer, gets the stored answer when it is sent again', async () => {
  const { id: workspaceId, slug } = await stack.workspace();
  const wanted = { workspace: slug, name: 'ci', role: 'owner' };
  const { key: token } = await operate(stack.db, createManagementKey, wanted, secrets.KEY_PEPPER);
  const send = () =>
    fetch(`${stack.url}/api/v1/workspaces/${slug}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'once' },
      body: JSON.stringify({ name: 'web' }),
    });
  const stored = () => stack.db.prisma.apiKey.findMany({ where: { workspaceId } });
  // The database gets the COMMIT, and its answer does not come back.
  committing = () => process.nextTick(() => stack.databaseProxy.freeze());
  const first = send().then(
    ({ status }) => status,
    () => 'broken off',
  );
  await expect.poll(async () => (await stored()).length).toBe(1);
  await stack.kill('SIGKILL');
  expect(await first).toBe('broken off');

  committing = null;
  stack.databaseProxy.restore();
  await stack.start();
  const again = await send();
  const made = (await again.json()) as { id: string; key: string };
  expect(again.status).toBe(201);
  expect((await stored()).map(({ id }) => id)).toEqual([made.id]);
  const models = await fetch(`${stack.url}/v1/models`, { headers: { authorization: `Bearer ${made.key}` } });
  expect(models.status).toBe(200);
});
