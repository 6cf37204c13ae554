import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dropPartitions } from '#lib/control/retention/partitions';
import { KeptAnswers, type Wanted } from '#lib/gateway/repeats/kept-answers';
import { systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';
import { createDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';

let db: Db;
let close: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase();
  db = openDb(database.url, { onError: () => {} });
  close = async () => {
    await db.close();
    await database.drop();
  };
});
afterAll(() => {
  for (const answers of opened) answers.stop();
  return close();
});
const opened: KeptAnswers[] = [];

const sealingKey = randomBytes(32);
function open(bounds?: { answers: number; bytes: number }): KeptAnswers {
  const answers = new KeptAnswers({
    pool: db.pool,
    sealingKey,
    secret: 'pepper',
    clock: systemClock,
    ...(bounds && { bounds }),
    report: (error) => {
      throw error;
    },
  });
  opened.push(answers);
  return answers;
}

const wantedBy = (more: Partial<Wanted> = {}): Wanted => ({
  name: randomBytes(32),
  request: randomBytes(32),
  kind: 'repeat',
  workspaceId: newRowId(),
  keyId: newRowId(),
  callId: newRowId(),
  maxAgeSeconds: 600,
  isGone: () => false,
  usable: () => true,
  ...more,
});
const answerOf = (text: string) => ({
  status: 200,
  headers: ['content-type', 'text/plain'],
  body: Buffer.from(text),
  offerId: 'offer',
  priceId: 'price',
  model: 'model',
  provider: 'provider',
  costNano: 5n,
});

async function claimOf(answers: KeptAnswers, wanted: Wanted) {
  const found = await answers.find(wanted, systemClock.mono());
  if (found.state !== 'claimed') throw new Error(`it is ${found.state}`);
  return found.claim;
}

async function bodyOf(answers: KeptAnswers, wanted: Wanted): Promise<string> {
  const found = await answers.find({ ...wanted, callId: newRowId() }, systemClock.mono());
  return found.state === 'kept' ? found.answer.body.toString() : found.state;
}

const endClaims = () => db.pool.query(`UPDATE kept_answer SET claimed_until = now() - interval '1 ms'`);

it('a claim that is not renewed ends, and a late answer of its call is not kept (contract: repeats/killed)', async () => {
  const [paused, living] = [open(), open()];
  const wanted = wantedBy();
  const old = await claimOf(paused, wanted);
  expect(await bodyOf(living, wanted)).toBe('running');
  await endClaims();
  const next = await claimOf(living, { ...wanted, callId: newRowId() });
  await old.keep(answerOf('late'), 600);
  expect(await bodyOf(paused, wanted)).toBe('running');
  await next.keep(answerOf('in time'), 600);
  expect(await bodyOf(paused, wanted)).toBe('in time');
  // One that was kept cannot be taken over or forgotten by the call that lost it.
  await old.forget();
  expect(await bodyOf(living, wanted)).toBe('in time');
});

it('one of many that ask at once makes the answer, also after the first has failed (contract: repeats/running)', async () => {
  const fleet = [open(), open(), open()];
  const wanted = wantedBy();
  let made = 0;
  const ask = async (answers: KeptAnswers): Promise<string> => {
    const found = await answers.find({ ...wanted, callId: newRowId() }, systemClock.mono() + 120_000);
    if (found.state === 'kept') return found.answer.body.toString();
    if (found.state !== 'claimed') return found.state;
    made += 1;
    if (made === 1) {
      await found.claim.forget();
      return 'failed';
    }
    await found.claim.keep(answerOf('made'), 600);
    return 'made';
  };
  const told = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(fleet[at % 3] ?? open())));
  expect(made).toBe(2);
  expect(told.filter((one) => one === 'failed')).toHaveLength(1);
  expect(told.filter((one) => one === 'made')).toHaveLength(59);
});

it('a call whose client has left waits no longer, in the process that makes the answer and in others (contract: repeats/running)', async () => {
  const [making, other] = [open(), open()];
  const wanted = wantedBy();
  const claim = await claimOf(making, wanted);
  let isGone = false;
  const patient = { ...wanted, isGone: () => isGone };
  const waiting = [making, other].map((answers) =>
    answers.find({ ...patient, callId: newRowId() }, systemClock.mono() + 3_600_000),
  );
  isGone = true;
  expect(await Promise.all(waiting)).toEqual([{ state: 'running' }, { state: 'running' }]);
  await claim.keep(answerOf('made'), 600);
  expect(await bodyOf(other, wanted)).toBe('made');
});

it('an answer that a call cannot use is made again (contract: repeats/route)', async () => {
  const answers = open();
  const wanted = wantedBy({ kind: 'cache' });
  await (await claimOf(answers, wanted)).keep(answerOf('old price'), 600);
  const now = {
    ...wanted,
    callId: newRowId(),
    usable: ({ priceId }: { priceId: string }) => priceId === 'new',
  };
  await (await claimOf(answers, now)).keep({ ...answerOf('new price'), priceId: 'new' }, 600);
  expect(await bodyOf(answers, now)).toBe('new price');
});

it('a workspace has so many answers and bytes, and the oldest go first (contract: repeats/bounds)', async () => {
  const answers = open({ answers: 30, bytes: 1_000_000 });
  const workspaceId = newRowId();
  const wanted = Array.from({ length: 200 }, () => wantedBy({ workspaceId }));
  const other = wantedBy();
  await (await claimOf(answers, other)).keep(answerOf('of another'), 600);
  for (const one of wanted) await (await claimOf(answers, one)).keep(answerOf('text'), 600);
  // The oldest are deleted after the answer that exceeds the bounds is kept.
  await eventually(
    async () =>
      (
        await db.pool.query('SELECT count(*)::int AS kept FROM kept_answer WHERE workspace_id = $1', [
          workspaceId,
        ])
      ).rows,
    [{ kept: 30 }],
  );
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (!first || !last) throw new Error('there are no answers');
  expect([await bodyOf(answers, last), await bodyOf(answers, other)]).toEqual(['text', 'of another']);
  await claimOf(answers, { ...first, callId: newRowId() });
});

it('expired answers are deleted, and so are claims that are no longer renewed (contract: repeats/deleted)', async () => {
  const answers = open();
  const [kept, over, left] = [wantedBy(), wantedBy(), wantedBy()];
  await (await claimOf(answers, kept)).keep(answerOf('kept'), 600);
  await (await claimOf(answers, over)).keep(answerOf('over'), 600);
  await claimOf(answers, left);
  await db.pool.query(
    `UPDATE kept_answer SET keep_until = now() - interval '1 s' WHERE workspace_id = ANY ($1::uuid[])`,
    [[over.workspaceId, left.workspaceId]],
  );
  await dropPartitions(db.pool, Date.now(), 90);
  const { rows } = await db.pool.query<{ id: string }>(
    'SELECT workspace_id::text AS id FROM kept_answer WHERE workspace_id = ANY ($1::uuid[])',
    [[kept, over, left].map((one) => one.workspaceId)],
  );
  expect(rows).toEqual([{ id: kept.workspaceId }]);
  answers.stop();
});
