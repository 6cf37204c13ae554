import { randomInt, randomUUID } from 'node:crypto';
import { listProposals, updateCatalogue } from '#lib/control/operations/catalogue/update';
import type { Operation } from '#lib/control/operations/declare';
import type { Field } from '#lib/control/operations/field/field';
import { operations } from '#lib/control/operations/operations';
import { addProvider } from '#lib/control/operations/provider/add';
import { offerModels } from '#lib/control/operations/provider/offer';
import { ask, type ControlHost, runAny } from '#lib/control/operations/run';
import { showVerification } from '#lib/control/operations/verification/operations';
import { sealContent } from '#lib/gateway/content/stored';
import { newRowId } from '#lib/platform/data/row-id';
import { logCall } from '#tests/support/control/log-call';
import { insist } from '#tests/support/eventually';

const operator = { kind: 'operator', name: 'test', address: null } as const;

/**
 * Valid input for an operation: its required fields and those in its address, from their declared examples,
 * and the id of a thing in the workspace: a new one if its noun can be created, otherwise the first one of
 * its list.
 * @returns `made`: whether each id is that of an existing thing.
 */
export async function sampleOf(
  host: ControlHost,
  operation: Operation,
  workspace: string,
): Promise<{ input: Record<string, unknown>; made: boolean }> {
  const input: Record<string, unknown> = {};
  let made = true;
  for (const [name, field] of Object.entries(operation.fields)) {
    if (!field.required && !operation.http.some(({ path }) => path.includes(`{${name}}`))) continue;
    if (field.kind !== 'id') input[name] = exampleOf(field);
    else {
      const id = await makeThing(host, operation, workspace);
      made &&= id !== null;
      input[name] = id ?? randomUUID();
    }
  }
  // A management key has a role or is the operator's.
  if (operation.name === 'management-key.create') input.role = 'viewer';
  // No two views of a user may have the same one.
  if (operation.name.startsWith('view.') && 'name' in input) input.name = `View ${randomUUID()}`;
  // No two workspaces may have the same one.
  if (operation.name === 'workspace.rename') input.slug = `slug-${randomUUID().slice(0, 8)}`;
  // From the catalogue of the tests that use samples; without one, it is not found.
  if (operation.name.startsWith('provider.') && 'provider' in input) input.provider = 'one';
  if (operation.name === 'provider.add')
    Object.assign(input, { preset: 'ollama', id: `added-${randomUUID().slice(0, 8)}` });
  // One of its own: samples of other operations use the offers of the first.
  if (operation.name === 'provider.withdraw') input.provider = await makeProvider(host);
  if (operation.name.startsWith('own-key.') && 'provider' in input)
    Object.assign(input, {
      provider: 'one',
      name: `own-${randomUUID().slice(0, 8)}`,
      value: `sk-${randomUUID()}`,
    });
  // No two budgets of a workspace may be for the same value.
  if (operation.name === 'tag-budget.create') input.value = `user-${randomUUID()}`;
  if (operation.name === 'own-key.set') input.use = 'last';
  if (operation.name.startsWith('price.') && 'provider' in input) input.provider = 'one';
  if (operation.name === 'provider.set-credential') input.value = `sk-${randomUUID()}`;
  if (operation.name === 'catalogue.accept' || operation.name === 'catalogue.dismiss')
    input.proposals = [await makeProposal(host)];
  if (operation.name === 'content.show') input.id = await makeContent(host, workspace);
  if (operation.name === 'feedback.set')
    Object.assign(input, { id: await makeContent(host, workspace), score: 1 });
  // An IP address, so that no name has to be resolved.
  if (operation.name === 'webhook.create') input.url = 'https://93.184.216.34/hook';
  if (operation.name === 'webhook.redeliver') {
    const test = operations.find(({ name }) => name === 'webhook.test');
    const asked = { actor: operator, workspace, input: { id: input.id } };
    if (test) input.delivery = idIn((await runAny(host, test, asked)).output);
  }
  // Only one runs at a time.
  if (operation.name === 'verification.start') await verificationEnded(host);
  // It may be in the body instead.
  if (operation.name === 'route.explain') input.model = operation.fields.model?.example;
  if (operation.name === 'member.add' || operation.name === 'user.confirm') {
    // Somebody who has signed up.
    const user = { id: randomUUID(), email: String(input.email) };
    await host.db.prisma.user.create({ data: user });
  }
  return { input, made };
}

/** Waits until no verification of the ledger runs. */
async function verificationEnded(host: ControlHost): Promise<void> {
  const asked = { actor: operator, workspace: undefined, input: {} };
  await insist(async () => {
    const { running } = (await runAny(host, showVerification, asked)).output as { running: boolean };
    if (running) throw new Error('a verification still runs');
  });
}

async function makeThing(host: ControlHost, { name }: Operation, workspace: string): Promise<string | null> {
  const noun = name.split('.')[0];
  if (name === 'price.withdraw') return makeDatedPrice(host);
  const find = (...verbs: string[]) =>
    operations.find((one) => verbs.some((verb) => one.name === `${noun}.${verb}`));
  const [maker, list] = [find('create', 'add'), find('list')];
  if (maker && Object.values(maker.fields).every(({ kind, required }) => kind !== 'id' || !required)) {
    const { input } = await sampleOf(host, maker, workspace);
    const { output } = await runAny(host, maker, { actor: operator, workspace, input });
    return idIn(output);
  }
  if (!list) return null;
  const { output } = await runAny(host, list, { actor: operator, workspace, input: {} });
  const { data } = output as { data: unknown[] };
  return idIn(data[0]);
}

/** What a price table lists for one provider: a sample stays a proposal while others are made. */
const listed: Record<string, object> = {};

/** A new model at a provider of the price tables. @returns the id of its proposal. */
async function makeProposal(host: ControlHost): Promise<string> {
  const asked = (input: object) => ({ actor: operator, input });
  const id = 'listed';
  if ((await host.db.prisma.provider.count({ where: { id } })) === 0)
    await ask(host, addProvider, asked({ preset: 'openai', id, env: 'LISTED' }));
  const name = `listed-${randomUUID().slice(0, 8)}`;
  listed[name] = { id: name, cost: { input: 1, output: 1 } };
  const text = JSON.stringify({ openai: { id: 'openai', models: listed } });
  await ask(host, updateCatalogue, asked({ from: { name: 'table.json', text } }));
  const { data } = await ask(host, listProposals, asked({ provider: id }));
  return data.find(({ upstreamModel }) => upstreamModel === name)?.id ?? '';
}

/** A call whose content was kept; no operation makes one. @returns its id. */
async function makeContent({ db, sealingKey }: ControlHost, workspace: string): Promise<string> {
  const callId = newRowId();
  const { rows } = await db.pool.query<{ id: string }>(
    `SELECT id FROM workspace WHERE slug = $1
     UNION SELECT workspace_id FROM former_slug WHERE slug = $1`,
    [workspace],
  );
  const [place] = rows;
  if (!place || !sealingKey) return callId;
  await logCall(db.pool, callId, place.id);
  const side = { contentType: '', text: '{}', bytes: 2, cut: false };
  const sealed = await sealContent(
    { callId, workspaceId: place.id },
    { request: side, answer: side },
    sealingKey,
  );
  await db.pool.query(
    `INSERT INTO call_content (call_id, workspace_id, key_id, at, keep_until, sealed)
     VALUES ($1, $2, $2, now(), now() + interval '1 hour', $3)`,
    [callId, place.id, sealed],
  );
  return callId;
}

/** A provider with a model. @returns its id. */
async function makeProvider(host: ControlHost): Promise<string> {
  const id = `made-${randomUUID().slice(0, 8)}`;
  const asked = { actor: operator, workspace: undefined };
  await ask(host, addProvider, { ...asked, input: { preset: 'ollama', id } });
  const models = [{ upstreamModel: 'llama3.2', free: true }];
  await ask(host, offerModels, { ...asked, input: { provider: id, models } });
  return id;
}

/** Each at a different time. */
async function makeDatedPrice(host: ControlHost): Promise<string | null> {
  const set = operations.find((one) => one.name === 'price.set');
  if (!set) return null;
  const { input } = await sampleOf(host, set, '');
  const effectiveAt = new Date(5e12 + randomInt(1e12)).toISOString();
  const asked = { actor: operator, workspace: undefined, input: { ...input, effectiveAt } };
  return idIn((await runAny(host, set, asked)).output);
}

function idIn(thing: unknown): string | null {
  return typeof thing === 'object' && thing !== null && 'id' in thing ? String(thing.id) : null;
}

/** Different each time if it must be unique. */
function exampleOf({ kind, example, choices }: Field): unknown {
  if (typeof example === 'string' && example.includes('@')) return `${randomUUID()}@example.com`;
  // Declared examples will be in the past some day; this stays in the future for as long as there are tests.
  if (kind === 'moment') return '2199-01-31T12:00:00Z';
  if (example !== undefined) return example;
  if (kind === 'choice') return choices?.[0];
  const byKind: Partial<Record<Field['kind'], unknown>> = {
    count: 1,
    money: '1',
    switch: true,
    models: null,
  };
  return kind in byKind ? byKind[kind] : 'example';
}

/** A value of JSON as the command line takes it. */
export function wordOf(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
