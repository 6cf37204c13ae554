import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { responses } from '#lib/core/families/responses';
import { type FieldSpec, type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { createTurns } from '#lib/gateway/flow/upload/turns';

const spec: FieldSpec = {
  model: {},
  options: { fields: { usage: {} } },
  tools: { each: { type: {} } },
};
const atOnce = async () => {};

function told(result: Scan | ScanFault): unknown {
  if ('fault' in result) return result;
  const { root, found, nulls, collected, longStrings } = result;
  return { root, found: [...found], nulls: [...nulls], collected, longStrings };
}

describe('a body that is scanned in slices (contract: body/slices)', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constant('data:image/png;base64,QUJD'.padEnd(1_200, 'QUJD')),
    fc.constant('plain words '.repeat(100)),
  );
  const body = fc.record(
    {
      model: text,
      options: fc.record({ usage: fc.jsonValue() }),
      tools: fc.array(fc.record({ type: fc.jsonValue(), format: text, data: text })),
      rest: fc.jsonValue({ maxDepth: 4 }),
    },
    { requiredKeys: [] },
  );

  it('gives the same result as the whole, wherever it is cut', async () => {
    const run = fc.asyncProperty(
      body,
      fc.constantFrom('', ' ', '\t\n  '),
      fc.integer({ min: 1, max: 60 }),
      async (value, space, sliceBytes) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space));
        expect(told(await scanInSlices(bytes, spec, atOnce, sliceBytes))).toEqual(told(scan(bytes, spec)));
      },
    );
    await fc.assert(run, { numRuns: 300 });
  });

  it('is refused for the same reasons as the whole', async () => {
    const run = fc.asyncProperty(
      body,
      fc.nat(),
      fc.constantFrom('"', '\\', ',', '}', ']', '{', '0', '\\u12', '\u0001'),
      fc.integer({ min: 1, max: 20 }),
      async (value, place, damage, sliceBytes) => {
        const whole = Buffer.from(JSON.stringify(value));
        const at = place % whole.length;
        const bytes = Buffer.concat([whole.subarray(0, at), Buffer.from(damage), whole.subarray(at)]);
        expect(told(await scanInSlices(bytes, spec, atOnce, sliceBytes))).toEqual(told(scan(bytes, spec)));
      },
    );
    await fc.assert(run, { numRuns: 500 });
  });

  it('lets others run between any two slices, whatever it contains', async () => {
    const bytes = 4 * 1024 * 1024;
    const fillings = ['{},', '"a":1,'.slice(4), '[[]],', 'a', 'QUJD', ' '];
    for (const filling of fillings) {
      const inside = filling.repeat(bytes / filling.length);
      const isText = /^[a-zA-Z]/.test(filling);
      const whole = Buffer.from(`{"model":"m","x":[${isText ? `"${inside}"` : `${inside}1`}]}`);
      let turns = 0;
      const scanned = await scanInSlices(whole, spec, async () => void turns++);
      expect(scanned).not.toHaveProperty('fault');
      expect(turns).toBeGreaterThanOrEqual(bytes / (32 * 1024));
    }
  });

  it('is checked for UTF-8 in parts, none of which cuts a character', async () => {
    const mebibytes4 = 4 * 1024 * 1024;
    for (const shift of [0, 1, 2, 3]) {
      const text = `{"a":"${'x'.repeat(shift)}${'😀'.repeat(mebibytes4 / 4 + 8)}"}`;
      expect(await scanInSlices(Buffer.from(text), spec, atOnce)).not.toHaveProperty('fault');
      const broken = Buffer.from(text);
      broken[broken.length - 6] = 0xff;
      expect(await scanInSlices(broken, spec, atOnce)).toEqual(scan(broken, spec));
    }
  });

  it('waits for bodies that have less left, and one slice runs in each round of the event loop', async () => {
    const turn = createTurns();
    const order: string[] = [];
    let round = 0;
    const count = () => {
      round += 1;
      if (order.length < 9) setImmediate(count);
    };
    setImmediate(count);
    const slices = async (name: string, bytes: number) => {
      for (let left = bytes; left > 0; left--) {
        await turn(left);
        order.push(`${name}${round}`);
      }
    };
    await Promise.all([slices('long', 5), slices('short', 2), slices('middle', 2)]);
    expect(order.map((one) => one.replace(/\d+$/, ''))).toEqual([
      ...['short', 'short', 'middle', 'middle'],
      ...Array.from({ length: 5 }, () => 'long'),
    ]);
    expect(new Set(order.map((one) => one.replace(/^\D+/, ''))).size).toBe(order.length);
  });
});

const createResponse = responses.operations.find(({ name }) => name === 'responses.create')?.fields ?? {};
const createChat = chat.operations[0]?.fields ?? {};

/** Of a body with `count` times the same in the list `name`. */
function listOf(fields: FieldSpec, name: string, one: string, count: number): Scan | ScanFault {
  return scan(Buffer.from(`{"model":"m","${name}":[${`${one},`.repeat(count - 1)}${one}]}`), fields);
}

describe('what a scan keeps is bounded', () => {
  it.each([
    ['empty objects', createResponse, 'input', '{}'],
    ['messages', createResponse, 'input', '{"type":"message","role":"user","content":"Hi"}'],
    ['answers that carry what they say', createResponse, 'input', '{"type":"message","id":"msg_1"}'],
    ['functions', createResponse, 'tools', '{"type":"function","name":"f"}'],
    ['empty messages', createChat, 'messages', '{"audio":{}}'],
    ['functions of chat', createChat, 'tools', '{"type":"function"}'],
  ])('%s leave nothing, however many there are', (_what, fields, name, one) => {
    const scanned = listOf(fields, name, one, 60_000);
    expect('fault' in scanned ? scanned : scanned.collected).toEqual([]);
  });

  it('more values than 50,000 that it must read are refused', () => {
    const spoken = '{"audio":{"id":"a"}}';
    const most = listOf(createChat, 'messages', spoken, 50_000);
    expect('fault' in most ? most : most.collected.length).toBe(50_000);
    expect(listOf(createChat, 'messages', spoken, 50_001)).toEqual({
      fault: expect.stringMatching(/field "messages\[\]\.audio\.id" and similar ones have over 50000 values/),
    });
  });

  it('values of over 4 MiB together are refused', () => {
    const spoken = `{"audio":{"id":"${'a'.repeat(60_000)}"}}`;
    expect(listOf(createChat, 'messages', spoken, 69)).not.toHaveProperty('fault');
    expect(listOf(createChat, 'messages', spoken, 70)).toEqual({
      fault: expect.stringContaining('have over 4 MiB of text together; send less'),
    });
  });

  it('a value of over 64 KiB is refused where it is read, and passes where a list or nothing is', () => {
    const long = 'a'.repeat(70_000);
    expect(scan(Buffer.from(`{"model":"${long}"}`), createResponse)).toEqual({
      fault: 'In the body, at byte 9, field "model" is over 64 KiB; send a shorter value.',
    });
    expect(scan(Buffer.from(`{"input":"${long}","text":"${long}"}`), createResponse)).not.toHaveProperty(
      'fault',
    );
  });
});
