import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlRefused } from '#lib/control/operations/refusal';
import { addChains, givePolicy, placeIn } from '#tests/gateway/routing/chains';
import { askChat } from '#tests/support/chat-call';
import { type CommandLine, commandLine } from '#tests/support/command';
import { rollBackPolicy, setPolicy } from '#tests/support/control/operate';
import { insist } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

interface Told {
  readonly candidates: readonly { provider: string; model: string; openUntil: string | null }[];
  readonly skipped: readonly { provider: string; model: string; why: string }[];
  readonly health: string;
}

let stack: Stack;
let gateway: CommandLine;

beforeAll(async () => {
  stack = await joinStack();
  gateway = commandLine(stack.databaseUrl, {
    DATA_DIR: stack.dataDir,
    SANDBOX_URL: stack.sandbox.url,
    SANDBOX_KEY: stack.sandbox.key,
  });
  await addChains(stack, {
    'policy/own': ['echo', 'echo', 'echo'],
    'policy/other': ['echo', 'echo'],
    'policy/lost': ['fault/status-500'],
  });
});
afterAll(async () => {
  gateway.close();
  await stack.close();
});

const [first, second, third] = ['first-policy-own', 'second-policy-own', 'third-policy-own'];

function file(text: string): string {
  const path = join(gateway.dir, 'policy.json');
  writeFileSync(path, text);
  return path;
}

async function answerer(key: string, fields: object = {}): Promise<string> {
  const { answer } = await askChat(stack.url, key, { model: 'policy/own', ...fields });
  expect(answer.status).toBe(200);
  return `${placeIn(headerOf(answer, 'x-answered-provider'))} ${headerOf(answer, 'x-answered-model')}`;
}

async function workspaceWithKey() {
  const { id, slug } = await stack.workspace();
  return { id, slug, key: (await stack.key(slug)).key };
}

function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

describe('a policy in force', () => {
  it('moves calls at once: the default, then a model’s own keys over it', async () => {
    const { slug, key } = await workspaceWithKey();
    expect(await answerer(key)).toBe('first policy/own');
    await givePolicy(stack, slug, { ignore: [first], maxAttempts: 1 });
    expect(await answerer(key)).toBe('second policy/own');
    await givePolicy(stack, slug, { order: [third] }, 'policy/own');
    expect(await answerer(key)).toBe('third policy/own');
    await givePolicy(stack, slug, { order: [first, third] }, 'policy/own');
    // The default's `ignore` still stands.
    expect(await answerer(key)).toBe('third policy/own');
    await givePolicy(stack, slug, { ignore: [] }, 'policy/own');
    expect(await answerer(key)).toBe('first policy/own');
  });

  it('draws by weight as often as the weights say, whole calls through', async () => {
    const { slug, key } = await workspaceWithKey();
    await givePolicy(stack, slug, { weights: { [second]: 98, [first]: 1, [third]: 1 } });
    const drawn = await Promise.all(Array.from({ length: 40 }, () => answerer(key)));
    // Fewer than 30 of 40 at 98 % would happen once in 10^9 runs.
    expect(drawn.filter((one) => one.startsWith('second')).length).toBeGreaterThanOrEqual(30);
  });

  it('falls back to another model within the scope of the key alone', async () => {
    const { slug, key } = await workspaceWithKey();
    const { key: narrow } = await stack.key(slug, { models: ['policy/lost'] });
    await givePolicy(stack, slug, { fallbackModels: ['policy/other'] });
    expect(await answerer(key, { model: 'policy/lost' })).toBe('first policy/other');
    const { answer } = await askChat(stack.url, narrow, { model: 'policy/lost' });
    expect(answer.status).toBe(500);
    expect(headerOf(answer, 'x-attempts')).toBe('1');
  });

  it('that excludes every offer is a 502 that says so', async () => {
    const { slug, key } = await workspaceWithKey();
    await givePolicy(stack, slug, { maxPrice: { input: '0.5' } });
    const { answer } = await askChat(stack.url, key, { model: 'policy/own' });
    expect(answer.status).toBe(502);
    expect(answer.body.toString()).toContain('"missing_upstream_base_url"');
    expect(answer.body.toString()).toContain('too expensive');
  });
});

describe('a policy is refused', () => {
  it('where it names a provider or model that the catalogue does not hold', async () => {
    const { slug: workspace } = await stack.workspace();
    for (const policy of [
      { order: ['nobody'] },
      { only: ['nobody'] },
      { ignore: ['nobody'] },
      { weights: { nobody: 1 } },
    ]) {
      expect(await refusalOf(setPolicy(stack.db, { workspace, policy }))).toContain('provider "nobody"');
    }
    const models = { fallbackModels: ['no/such'] };
    expect(await refusalOf(setPolicy(stack.db, { workspace, policy: models }))).toContain('"no/such"');
  });

  it('where a model’s policy and the default, each sound, order and draw one provider together', async () => {
    const { slug: workspace } = await stack.workspace();
    const model = 'policy/own';
    await givePolicy(stack, workspace, { order: [first] });
    const weights = { weights: { [first]: 2 } };
    expect(await refusalOf(setPolicy(stack.db, { workspace, model, policy: weights }))).toContain('both');
    await givePolicy(stack, workspace, { ...weights, order: [] }, model);
    await givePolicy(stack, workspace, {});
    await givePolicy(stack, workspace, weights, model);
    expect(await refusalOf(setPolicy(stack.db, { workspace, policy: { order: [first] } }))).toContain(model);
  });
});

describe('a roll-back (contract: routing/policy)', () => {
  it('puts the policy before the last change in force again, as a new version', async () => {
    const { id, slug, key } = await workspaceWithKey();
    await gateway.json('policy', 'set', slug, '--file', file(`{ "order": ["${second}"] }`));
    await gateway.json('policy', 'set', slug, '--file', file(`{ "order": ["${third}"] }`));
    expect(await answerer(key)).toBe('third policy/own');
    expect(await gateway.json('policy', 'rollback', slug)).toEqual({
      version: 3,
      restored: 1,
      policy: { order: [second] },
    });
    expect(await answerer(key)).toBe('second policy/own');
    expect(await gateway.json('policy', 'rollback', slug)).toMatchObject({ version: 4, restored: 2 });
    expect(await answerer(key)).toBe('third policy/own');
    const { rows } = await stack.db.pool.query<{ action: string }>(
      `SELECT action FROM audit WHERE workspace_id = $1 AND action LIKE 'policy.%' ORDER BY at`,
      [id],
    );
    expect(rows.map((row) => row.action)).toEqual([
      'policy.set',
      'policy.set',
      'policy.rollback',
      'policy.rollback',
    ]);
  });

  it('of a first version restores the empty policy, or the default for a model', async () => {
    const { slug, key } = await workspaceWithKey();
    await givePolicy(stack, slug, { order: [second] });
    await givePolicy(stack, slug, { order: [third] }, 'policy/own');
    const flags = ['--model', 'policy/own'];
    expect(await gateway.json('policy', 'rollback', slug, ...flags)).toEqual({
      version: 2,
      restored: null,
      policy: {},
    });
    expect(await answerer(key)).toBe('second policy/own');
    expect(await gateway.json('policy', 'show', slug)).toMatchObject({
      default: { order: [second] },
      models: { 'policy/own': {} },
      versions: { '': 1, 'policy/own': 2 },
    });
  });

  it('is refused where no policy was ever set', async () => {
    const { slug: workspace } = await stack.workspace();
    expect(await refusalOf(rollBackPolicy(stack.db, { workspace }))).toContain('nothing to roll back');
  });
});

describe('route explain', () => {
  const explain = (slug: string, model: string, ...more: string[]) =>
    gateway.json<Told>('route', 'explain', '--workspace', slug, '--model', model, ...more);

  it('shows the order that calls take, and why every other offer is left out', async () => {
    const { slug, key } = await workspaceWithKey();
    const policy = { order: [third], ignore: [first], fallbackModels: ['policy/other'], maxAttempts: 2 };
    await givePolicy(stack, slug, policy);
    const told = await explain(slug, 'policy/own');
    expect(told.candidates.map((one) => one.provider)).toEqual([third, second]);
    expect(told.skipped).toEqual([
      { provider: first, model: 'policy/own', why: "in the policy's ignore" },
      { provider: 'first-policy-other', model: 'policy/other', why: expect.stringContaining('2 attempts') },
      { provider: 'second-policy-other', model: 'policy/other', why: expect.stringContaining('2 attempts') },
    ]);
    expect(await answerer(key)).toBe('third policy/own');
  });

  it('reads what the request asks for from a body', async () => {
    const { slug } = await stack.workspace();
    await givePolicy(stack, slug, { fallbackModels: ['policy/other'] });
    const parts = [{ type: 'image_url', image_url: { url: 'https://images.test/a.png' } }];
    const body = file(JSON.stringify({ messages: [{ role: 'user', content: parts }] }));
    const told = await explain(slug, 'policy/own', '--body', body);
    expect(told.skipped).toEqual([
      { provider: '*', model: 'policy/other', why: expect.stringContaining('cannot read images') },
    ]);
  });

  it('asks the running gateway which offers are set aside, and says when none is running', async () => {
    const { slug, key } = await workspaceWithKey();
    await addChains(stack, { 'policy/broken': ['fault/status-500', 'echo'] });
    expect((await explain(slug, 'policy/broken')).candidates.map((one) => placeIn(one.provider))).toEqual([
      'first',
      'second',
    ]);
    for (let call = 0; call < 5; call += 1) await answerer(key, { model: 'policy/broken' });
    // On a busy machine the gateway may say it too late, or its offer be due for a probe by then, which fails.
    const live = await insist(async () => {
      await answerer(key, { model: 'policy/broken' });
      const askedMs = Date.now();
      const told = await explain(slug, 'policy/broken');
      expect(told.health).toBe('live');
      expect(told.candidates.map((one) => placeIn(one.provider))).toEqual(['second', 'first']);
      return { ...told, askedMs };
    });
    expect(Date.parse(live.candidates[1]?.openUntil ?? '')).toBeGreaterThan(live.askedMs);
    const alone = commandLine(stack.databaseUrl);
    const told = await alone.run('route', 'explain', '--workspace', slug, '--model', 'policy/broken');
    expect(told.out).toContain('no gateway process is running on this data directory');
    alone.close();
  });
});
