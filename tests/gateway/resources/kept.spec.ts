import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropPartitions, makePartitions } from '#lib/control/retention/partitions';
import type { Resource } from '#lib/core/facts/resource';
import {
  forgetResource,
  listResources,
  readResources,
  unclaimedResources,
} from '#lib/gateway/resources/database/stored';
import { createResources, type LiveResources } from '#lib/gateway/resources/resources';
import { type Drain, startDrain } from '#lib/gateway/settlement/drain';
import { type OwnJournal, openJournal } from '#lib/gateway/settlement/journal/journal';
import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { recover } from '#lib/gateway/settlement/recover';
import { settle } from '#lib/gateway/settlement/settle';
import { systemClock } from '#lib/platform/clock';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import {
  type Customer,
  callOf,
  closeOf,
  createCustomer,
  keepOf,
  newDirectory,
  newId,
  openOf,
} from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  pool.on('error', () => {});
  await makePartitions(pool, Date.now());
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const fails = (error: Error) => {
  throw error;
};

interface Process {
  readonly resources: LiveResources;
  readonly journal: OwnJournal;
  readonly drain: Drain;
  readonly dir: string;
}

/** What one gateway process has of resources; its drain runs only when asked. */
function startProcess(): Process {
  const dir = newDirectory();
  const journal = openJournal(dir, newId(), { report: () => {}, onWritable: () => {}, onFailure: fails });
  const drain = startDrain({ pool, journal, onPosted: () => {}, report: fails, schedule: () => () => {} });
  const resources = createResources({
    clock: systemClock,
    journal,
    read: (names) => readResources(pool, names),
    unclaimed: (workspaceId, shown) => unclaimedResources(pool, workspaceId, shown),
    list: (workspaceId, page, sinceMs) => listResources(pool, workspaceId, page, sinceMs),
    forget: (resource) => forgetResource(pool, resource),
  });
  return { resources, journal, drain, dir };
}

function responseOf(customer: Customer, part: Partial<Resource> = {}): Resource {
  const [made] = keepOf(callOf(customer), part).resources;
  if (!made) throw new Error('a resource was asked for');
  return made;
}

const findIn = (process: Process, resource: Resource, workspaceId = resource.workspaceId) =>
  process.resources.find(workspaceId, resource.kind, resource.id);

describe('what a provider keeps (contract: jobs/look-up, jobs/lifetime)', () => {
  it('is known at once in the process that showed it, and in another one when the drain has run', async () => {
    const customer = await createCustomer(pool);
    const [here, there] = [startProcess(), startProcess()];
    const resource = responseOf(customer);
    await here.resources.keep(resource.callId, [resource]);
    expect(findIn(here, resource)).toEqual(resource);
    const asked = findIn(there, resource);
    await here.drain.drainNow();
    expect(await asked).toEqual(resource);
    expect(findIn(there, resource)).toEqual(resource);
  });

  it('is found neither by others nor as another kind', async () => {
    const [owner, other] = [await createCustomer(pool), await createCustomer(pool)];
    const here = startProcess();
    const resource = responseOf(owner);
    await here.resources.keep(resource.callId, [resource]);
    await here.drain.drainNow();
    expect(await findIn(here, resource, other.workspaceId)).toBeNull();
    expect(await here.resources.find(owner.workspaceId, 'video', resource.id)).toBeNull();
  });

  it('may carry one id in two workspaces, and each has its own', async () => {
    const [one, two] = [await createCustomer(pool), await createCustomer(pool)];
    const [here, there] = [startProcess(), startProcess()];
    const mine = responseOf(one, { id: 'resp_same', providerId: 'openai' });
    const yours = responseOf(two, { id: 'resp_same', providerId: 'azure' });
    await here.resources.keep(mine.callId, [mine]);
    await here.resources.keep(yours.callId, [yours]);
    await here.drain.drainNow();
    expect(await findIn(there, mine)).toEqual(mine);
    expect(await findIn(there, yours)).toEqual(yours);
  });

  it('may be 10,000 things at once, and more are none of them kept: the drain could not end with them', async () => {
    const customer = await createCustomer(pool);
    const here = startProcess();
    const { callId } = responseOf(customer);
    const shown = Array.from({ length: 10_001 }, () => responseOf(customer, { kind: 'item', callId }));
    await expect(here.resources.keep(callId, shown)).rejects.toThrow('10001 things');
    expect(here.journal.backlog).toBe(0);
    await here.resources.keep(callId, shown.slice(1));
    await here.drain.drainNow();
    expect(here.journal.backlog).toBe(0);
    const kept = await pool.query('SELECT count(*)::int AS kept FROM resource WHERE call_id = $1', [callId]);
    expect(kept.rows).toEqual([{ kept: 10_000 }]);
  });

  it('survives a kill right after it was kept', async () => {
    const customer = await createCustomer(pool);
    const killed = startProcess();
    const call = callOf(customer);
    const resource = responseOf(customer, { callId: call.id });
    await killed.journal.append(openOf(call));
    await killed.resources.keep(call.id, [resource]);
    await recover({ pool, dir: killed.dir, nowMs: Date.now(), report: fails });
    expect(await findIn(startProcess(), resource)).toEqual(resource);
    const ended = await pool.query('SELECT end_reason FROM call WHERE id = $1', [call.id]);
    expect(ended.rows).toEqual([{ end_reason: 'interrupted' }]);
  });

  it('is updated later with what its call used, in memory and in the database', async () => {
    const customer = await createCustomer(pool);
    const [here, there] = [startProcess(), startProcess()];
    const resource = responseOf(customer);
    await here.resources.keep(resource.callId, [resource]);
    await here.drain.drainNow();
    expect(await findIn(there, resource)).toMatchObject({ tokens: 0 });
    await here.resources.keep(resource.callId, [{ ...resource, tokens: 321 }]);
    await here.resources.keep(resource.callId, [resource]);
    await here.drain.drainNow();
    expect(findIn(here, resource)).toMatchObject({ tokens: 321 });
    expect(await findIn(startProcess(), resource)).toMatchObject({ tokens: 321 });
  });

  it('is written once however often an answer shows it', async () => {
    const customer = await createCustomer(pool);
    const here = startProcess();
    const resource = responseOf(customer);
    for (let times = 0; times < 3; times++) await here.resources.keep(resource.callId, [resource]);
    expect(here.journal.backlog).toBe(1);
  });

  it('is gone once forgotten: here, elsewhere, and when its row comes later than that', async () => {
    const customer = await createCustomer(pool);
    const [here, there] = [startProcess(), startProcess()];
    const [drained, late] = [responseOf(customer), responseOf(customer)];
    await here.resources.keep(drained.callId, [drained]);
    await here.drain.drainNow();
    expect(await findIn(there, drained)).toEqual(drained);
    await here.resources.keep(late.callId, [late]);
    for (const resource of [drained, late]) await here.resources.forget(resource);
    await here.drain.drainNow();
    const changes = await pool.query(`SELECT subject FROM change WHERE kind = 'resource' ORDER BY position`);
    for (const { subject } of changes.rows) there.resources.drop(subject);
    for (const process of [here, there, startProcess()]) {
      expect(await findIn(process, drained)).toBeNull();
      expect(await findIn(process, late)).toBeNull();
    }
    await here.resources.keep(drained.callId, [drained]);
    await here.drain.drainNow();
    expect(await findIn(startProcess(), drained)).toBeNull();
  });

  it('shows what a background response used once its job has ended', async () => {
    const customer = await createCustomer(pool);
    const resource = responseOf(customer, { job: true });
    const here = startProcess();
    await here.resources.keep(resource.callId, [resource]);
    await here.drain.drainNow();
    await pool.query(
      `INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
         upstream_model, offer_id, price_version_id, hold_nano, facts, state, created_at, usage)
       VALUES ($1, $2, $3, 'responses', 'response', $4, 'openai', 'm', 'm', $1, $1, 0, '{}', 'completed', now(), $5)`,
      [resource.callId, customer.workspaceId, customer.keyId, resource.id, callOf(customer).usage],
    );
    expect(await findIn(startProcess(), resource)).toMatchObject({ tokens: 23 });
  });

  it('is dropped after 30 days, and not found from then on', async () => {
    const customer = await createCustomer(pool);
    const here = startProcess();
    const daysAgo = (days: number) => Date.now() - days * 24 * 3_600_000;
    const old = responseOf(customer, { createdAtMs: daysAgo(30) - 3_600_000 });
    const young = responseOf(customer, { createdAtMs: daysAgo(30) + 3_600_000 });
    await here.resources.keep(old.callId, [old, young]);
    await here.drain.drainNow();
    expect(findIn(here, old)).toBeNull();
    expect(await findIn(startProcess(), old)).toBeNull();
    await dropPartitions(pool, Date.now(), 90);
    const left = await pool.query('SELECT id FROM resource WHERE workspace_id = $1', [customer.workspaceId]);
    expect(left.rows).toEqual([{ id: young.id }]);
  });

  it('is found without an end if its provider keeps it so: a conversation', async () => {
    const customer = await createCustomer(pool);
    const here = startProcess();
    const createdAtMs = Date.now() - 400 * 24 * 3_600_000;
    const old = responseOf(customer, { kind: 'conversation', createdAtMs });
    await here.resources.keep(old.callId, [old]);
    await here.drain.drainNow();
    await dropPartitions(pool, Date.now(), 90);
    expect(findIn(here, old)).toEqual(old);
    expect(await findIn(startProcess(), old)).toEqual(old);
    await here.resources.forget(old);
    await dropPartitions(pool, Date.now(), 90);
    const left = await pool.query('SELECT id FROM resource WHERE id = $1', [old.id]);
    expect(left.rows).toEqual([]);
  });

  it('costs no statement while memory has it, and shares one among the look-ups of a turn', async () => {
    const customer = await createCustomer(pool);
    const made = [responseOf(customer), responseOf(customer), responseOf(customer)];
    const here = startProcess();
    await here.resources.keep(newId(), made);
    await here.drain.drainNow();
    const reads: number[] = [];
    const counting = createResources({
      clock: systemClock,
      journal: here.journal,
      read: (names) => {
        reads.push(names.length);
        return readResources(pool, names);
      },
      unclaimed: async () => [],
      list: async () => ({ views: [], more: false }),
      forget: async () => {},
    });
    const find = () => made.map(({ workspaceId, kind, id }) => counting.find(workspaceId, kind, id));
    expect(await Promise.all([...find(), ...find()])).toEqual([...made, ...made]);
    expect(find()).toEqual(made);
    expect(reads).toEqual([3]);
  });

  it('rejects while the database cannot be asked, and asks again next time', async () => {
    const customer = await createCustomer(pool);
    const resource = responseOf(customer);
    let away = true;
    const { find } = createResources({
      clock: systemClock,
      journal: startProcess().journal,
      read: async () => {
        if (away) throw new Error('away');
        return [resource];
      },
      unclaimed: async () => [],
      list: async () => ({ views: [], more: false }),
      forget: async () => {},
    });
    await expect(find(customer.workspaceId, resource.kind, resource.id)).rejects.toThrow('away');
    away = false;
    expect(await find(customer.workspaceId, resource.kind, resource.id)).toEqual(resource);
  });
});

describe('the entry that keeps it', () => {
  it('changes nothing when it is settled again, and goes with its call in one transaction', async () => {
    const customer = await createCustomer(pool);
    const call = callOf(customer);
    const keep = keepOf(call, {}, { kind: 'item', id: 'rs_1' });
    const entries = [keep, closeOf(call), keepOf(call, { id: keep.resources[0]?.id ?? '', tokens: 23 })];
    for (let times = 0; times < 3; times++) await settle(pool, newId(), entries);
    const rows = await pool.query('SELECT kind, tokens FROM resource WHERE call_id = $1 ORDER BY kind', [
      call.id,
    ]);
    expect(rows.rows).toEqual([
      { kind: 'item', tokens: '0' },
      { kind: 'response', tokens: '23' },
    ]);
  });

  it('of a deleted workspace does not keep anything else from the database', async () => {
    const customer = await createCustomer(pool);
    const reports: (string | null)[] = [];
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { report: () => {}, onWritable: () => {}, onFailure: fails });
    const orphan = callOf({ workspaceId: newId(), keyId: customer.keyId });
    const call = callOf(customer);
    const entries: Entry[] = [keepOf(orphan, {}), keepOf(orphan, {}), keepOf(call, {}), closeOf(call)];
    for (const entry of entries) await journal.append(entry);
    await recover({ pool, dir, nowMs: Date.now(), report: (_, callId) => reports.push(callId) });
    expect(reports).toEqual([orphan.id, orphan.id]);
    const kept = await pool.query('SELECT call_id FROM resource WHERE call_id = ANY ($1)', [
      [call.id, orphan.id],
    ]);
    expect(kept.rows).toEqual([{ call_id: call.id }]);
    const again: (string | null)[] = [];
    await recover({ pool, dir, nowMs: Date.now(), report: (_, callId) => again.push(callId) });
    expect(again).toEqual([orphan.id, orphan.id]);
  });
});
