import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '#lib/control/operations/declare';
import type { Field } from '#lib/control/operations/field/field';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operations } from '#lib/control/operations/operations';
import { ControlRefused } from '#lib/control/operations/refusal';
import { runAny } from '#lib/control/operations/run';
import { type Db, openDb } from '#lib/platform/data/db';
import { apiOf } from '#tests/support/control/adapters';
import { controlHost, createWorkspace, operate } from '#tests/support/control/operate';
import { sampleOf, wordOf } from '#tests/support/control/sample';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { startPayments } from '#tests/support/stripe/payments';

let database: TestDatabase;
let db: Db;
let stripe: Awaited<ReturnType<typeof startPayments>>;
let slug: string;
let token: string;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  stripe = await startPayments();
  const id = 'openai/gpt-4.1';
  await db.prisma.model.create({ data: { id, name: id, contextTokens: 1000, maxOutputTokens: 100 } });
  await db.prisma.provider.create({ data: { id: 'one', name: 'One', families: {} } });
  await db.prisma.offer.create({
    data: { id: randomUUID(), modelId: id, providerId: 'one', upstreamModel: 'm', families: [] },
  });
  slug = (await createWorkspace(db, { name: 'Bad input', credit: '10' })).slug;
  token = (await operate(db, createManagementKey, { name: 'ops', operator: true })).key;
});
afterAll(async () => {
  await stripe.close();
  await db.close();
  await database.drop();
});

const texts = [
  ...['', ' ', '\u0000', 'a\u0000b', 'a\nb', '\u001b[31m', 'a\u202eb', '\ud800', 'a\udc00b', '\uffff'],
  ...[
    '٣',
    '１２',
    '1e3',
    '0x10',
    '-1',
    '1_000',
    'NaN',
    'Infinity',
    "'; DROP TABLE api_key; --",
    '%00',
    '__proto__',
  ],
  ...[
    '+275760-09-13T00:00:00Z',
    '275760-09-13',
    '-000001-01-01T00:00:00Z',
    '0000-01-01',
    '2027-02-30',
    '9999-12-31',
  ],
  ...['x'.repeat(20_000), '9'.repeat(400), '0.0000000001', '00000000-0000-0000-0000-00000000000g', '../..'],
];
const hostile = fc.oneof(
  fc.constantFrom<unknown>(...texts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e21,
    2 ** 31,
    Number.MAX_SAFE_INTEGER,
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<unknown>([7], ['\u0000'], { length: 1 }, { toString: 'x' }, Array(3000).fill('a')),
);

/** What stands in the input besides its sample, or in its place. */
const faultOf = ({ fields }: Operation) =>
  fc.oneof(
    ...Object.keys(fields).map((name) => fc.tuple(fc.constant(name), hostile)),
    fc.tuple(fc.constantFrom('colour', '__proto__', 'constructor', 'workspaceId', 'a\u0000b'), hostile),
  );

/** Decides what one test draws: the same in each run, but not the same as the tests beside it. */
const seedOf = (name: string) =>
  createHash('sha256')
    .update(`${process.env.TEST_SEED ?? 1} ${name}`)
    .digest()
    .readInt32BE();

/** Whether the declaration takes the value; of a read, the text that stands in the address. */
function takes(field: Field | undefined, value: unknown, isRead: boolean): boolean {
  if (field === undefined) return false;
  const sent = isRead ? field.fromText(wordOf(value).toWellFormed()) : JSON.parse(JSON.stringify(value));
  return field.schema.safeParse(sent).success;
}

describe.each(operations)('bad input of $name', (operation) => {
  const isRead = operation.kind === 'read';
  const fieldOf = (name: string) =>
    Object.hasOwn(operation.fields, name) ? operation.fields[name] : undefined;

  it('is refused with the name of its field, and changes nothing', async () => {
    const host = { ...controlHost(db), ...stripe };
    const actor = { kind: 'operator', name: 'test', address: null } as const;
    const { input } = await sampleOf(host, operation, slug);
    const before = await db.prisma.audit.count();
    const check = async ([name, value]: [string, unknown]) => {
      if (takes(fieldOf(name), value, false)) return;
      const given = Object.fromEntries([...Object.entries(input), [name, value]]);
      const error = await runAny(host, operation, { actor, workspace: slug, input: given }).catch(
        (one) => one,
      );
      expect(error).toBeInstanceOf(ControlRefused);
      expect(error).toMatchObject({ code: 'invalid_body' });
      const field = String(error.field).split('.')[0];
      expect([name, JSON.stringify(name)]).toContain(field);
    };
    await fc.assert(fc.asyncProperty(faultOf(operation), check), {
      numRuns: 12,
      seed: seedOf(operation.name),
    });
    for (const [name, { required }] of Object.entries(operation.fields)) {
      if (!required) continue;
      const { [name]: _left, ...rest } = input;
      const missing = runAny(host, operation, { actor, workspace: slug, input: rest });
      await expect(missing).rejects.toMatchObject({ code: 'invalid_body', field: name });
    }
    expect(await db.prisma.audit.count(), 'rows of what was refused').toBe(before);
  });

  it.each(operation.http)('is never a fault of $method $path', async (address) => {
    const host = { ...controlHost(db), ...stripe };
    const api = apiOf(host);
    const { input } = await sampleOf(host, operation, slug);
    const check = async ([name, value]: [string, unknown]) => {
      const given = Object.fromEntries([...Object.entries(input), [name, value]]);
      const answer = await api(token, operation, address, slug, given);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
      const inAddress = address.path.includes(`{${name}}`);
      if (inAddress || address.body !== undefined || takes(fieldOf(name), value, isRead)) return;
      expect(answer, JSON.stringify(answer.body)).toMatchObject({
        status: 400,
        error: { code: 'invalid_body' },
      });
    };
    const seed = seedOf(`${address.method} ${address.path}`);
    await fc.assert(fc.asyncProperty(faultOf(operation), check), { numRuns: 9, seed });
  });
});
