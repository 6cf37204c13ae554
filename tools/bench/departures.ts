import { parseArgs } from 'node:util';
import { verifyLedger } from '#lib/control/billing/verify';
import {
  chargedShare,
  type Departure,
  depart,
  inTurns,
  leave,
  observe,
  outcomeOf,
  type Way,
  ways,
} from '#tests/gateway/departures/depart';
import prepareDatabase from '#tests/support/database';
import { type OwnStack, startStack } from '#tests/support/stack';

/** 200 hidden tokens of reasoning, then 40 of text, 100 per second. */
const SHORT = { directive: 'pace/10/40?reasoning=200', lastsMs: 2_400 };
/** The same at 20 per second, for 36 s: no drain sees its end. */
const LONG = { directive: 'pace/50/120?reasoning=600', lastsMs: 36_000 };
/** The average charge may differ from the provider's bill by this share. */
const TOLERANCE = 0.25;

const { values } = parseArgs({
  options: {
    moments: { type: 'string', default: '300' },
    'editor-seconds': { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});

let failed = false;
let state = Number(values.seed) || 1;

/** Numbers from 0 to 1, the same in every run. */
function random(): number {
  state = (state * 48_271) % 2_147_483_647;
  return state / 2_147_483_647;
}

function tell(name: string, departures: readonly Departure[]): void {
  const left = departures.filter(({ endReason }) => endReason === 'client_gone');
  const over = departures.filter((one) => one.chargedNano > one.holdNano).length;
  const refused = departures.filter(({ status }) => status === 429).length;
  const share = chargedShare(departures);
  const sources = Map.groupBy(departures, ({ source }) => source);
  const counted = [...sources].map(([source, list]) => `${list.length} ${source}`).join(', ');
  failed ||= Math.abs(share - 1) > TOLERANCE || over > 0 || refused > 0;
  process.stdout.write(
    `${name}: ${departures.length} calls, ${left.length} left (${counted}); charged ${(share * 100).toFixed(1)}% of the provider's bill; ${over} above their hold; ${refused} refused\n`,
  );
}

async function keyOf(stack: OwnStack, concurrency: number): Promise<string> {
  const { slug } = await stack.workspace({ rpm: 100_000, tpm: null, concurrency: 1_000, credit: '1000' });
  return (await stack.key(slug, { concurrency })).key;
}

/** Clients that leave at random moments of an answer. */
async function atRandom(
  stack: OwnStack,
  model: string,
  {
    directive,
    count,
    within,
  }: { readonly directive: string; readonly count: number; readonly within: number },
): Promise<Departure[]> {
  const key = await keyOf(stack, 256);
  return inTurns(count, 30, (index) =>
    depart(stack, key, ways[index % ways.length] as Way, {
      model,
      directive,
      afterMs: 20 + random() * within,
    }),
  );
}

/** Five calls a second, each canceled for the next one, with a key that may run five at once. */
async function editor(stack: OwnStack, model: string, seconds: number): Promise<Departure[]> {
  const key = await keyOf(stack, 5);
  const [way] = ways;
  const beganMs = performance.now();
  return inTurns(seconds * 5, seconds * 5, async (index) => {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, beganMs + index * 200 - performance.now())),
    );
    const mark = await leave(stack, key, way as Way, { model, directive: SHORT.directive, afterMs: 200 });
    return outcomeOf(stack, way as Way, mark);
  });
}

const endDatabase = await prepareDatabase();
const stack = await startStack();
try {
  const moments = Number(values.moments);
  const seconds = Number(values['editor-seconds']);
  const key = await keyOf(stack, 10);
  for (const model of ['test/thinks-aborted', 'test/thinks-drained']) {
    await observe(stack, key, model, SHORT.directive);
    const name = model.replace('test/thinks-', 'onDisconnect: ').replace(/(ab|dr)(ort|ain)ed/, '$1$2');
    tell(
      `random moments, ${name}`,
      await atRandom(stack, model, { ...SHORT, count: moments, within: SHORT.lastsMs }),
    );
    tell(`an editor for ${seconds} s, ${name}`, await editor(stack, model, seconds));
  }
  await observe(stack, key, 'test/thinks-long', 'pace/50/20?reasoning=20');
  const fifth = Math.ceil(moments / 5);
  tell(
    'answers longer than a drain',
    await atRandom(stack, 'test/thinks-long', { ...LONG, count: fifth, within: 5_000 }),
  );
  const { ok, checks } = await verifyLedger(stack.db);
  failed ||= !ok;
  process.stdout.write(
    `ledger verify: ${ok ? 'clean' : JSON.stringify(checks.filter(({ rows }) => rows.length))}\n`,
  );
} finally {
  await stack.close();
  await endDatabase();
}
process.exitCode = failed ? 1 : 0;
