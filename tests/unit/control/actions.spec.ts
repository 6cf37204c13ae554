import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { operations } from '#lib/control/operations/operations';

const app = fileURLToPath(new URL('../../../app', import.meta.url));

/** What makes an action of an operation, which then authorises as it declares. */
const makers = ['operationAction', 'operatorAction', 'ownAction', 'anonymousAction'];

/** Actions with code of their own, and what keeps others from using them. */
const written: Readonly<Record<string, string>> = {
  readFirstRun: 'an operation',
  applyShippedAction: 'an operation',
  updatePricesAction: 'an operation',
  showContentAction: 'an operation',
  compareCallsAction: 'an operation',
  searchContentAction: 'an operation',
  changeKeysAction: 'other actions of its file',
  startConnectingAction: 'the session',
  rememberZoneAction: 'sets a cookie of this browser alone',
  chooseColumnsAction: 'sets a cookie of this browser alone',
  putAwayAction: 'sets a cookie of this browser alone',
};

/** What people who are not signed in may do. */
const forStrangers = [
  'user.sign-up',
  'user.first-operator',
  'user.request-reset',
  'user.reset',
  'user.verify',
  'invitation.join',
];

interface Exported {
  readonly action: string;
  /** null: it is written out. */
  readonly maker: string | null;
  readonly operation: string;
  readonly from: string;
}

/** Every server action of the source. */
function actions(): Exported[] {
  const files = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  return files.flatMap((file) => {
    const text = readFileSync(`${app}/${file}`, 'utf8');
    if (!/^'use server';/.test(text)) {
      expect([file, text.includes("'use server'")]).toEqual([file, false]);
      return [];
    }
    return [...text.matchAll(/^export (?:const|async function) (\w+)(?: = (\w+)\((\w+))?/gm)].map(
      ([, action = '', maker = null, operation = '']) => ({
        action,
        maker,
        operation,
        from: new RegExp(`import \\{[^}]*\\b${operation}\\b[^}]*\\} from '([^']+)'`).exec(text)?.[1] ?? '',
      }),
    );
  });
}

it('every server action is one of a declared operation, which the matrix asks, or says what guards it', async () => {
  const all = actions();
  expect(all.length).toBeGreaterThan(70);
  const plain = all.filter(({ maker }) => maker === null).map(({ action }) => action);
  expect(plain.sort()).toEqual(Object.keys(written).sort());
  const strange: string[] = [];
  for (const { action, maker, operation, from } of all) {
    if (maker === null) continue;
    expect(makers, action).toContain(maker);
    const module: Record<string, unknown> = await import(from);
    const declared = operations.find((one) => one === module[operation]);
    expect([action, declared?.name]).toEqual([action, expect.any(String)]);
    if (maker === 'operatorAction') expect([action, declared?.reach]).toEqual([action, 'gateway']);
    if (maker === 'anonymousAction') strange.push(declared?.name ?? '');
  }
  expect(strange.sort()).toEqual([...forStrangers].sort());
});
