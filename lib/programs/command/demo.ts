import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Command, CommandRefused } from '#lib/programs/command/command';
import { fillDemo } from '#tools/demo/fill';

const seed = 20_260_101;

/** Needs many short transactions, so that a running gateway is not held up: no operation of the control plane. */
export const demo: readonly Command[] = [
  {
    name: 'demo fill',
    usage: '[--days N] [--time-zone ZONE] [--postgresql]',
    summary:
      'Fills a workspace of its own, "demo-data", with made-up calls, sums and ledger; replaces those of before. "demo remove" deletes it.',
    help: [
      ['--days', 'How many days the calls go back, 1 to 30 (30).'],
      ['--time-zone', 'By which the made-up people work, an IANA zone (that of this machine).'],
      ['--postgresql', 'Also in the database that DATABASE_URL names.'],
    ],
    positionals: [],
    options: ['days', 'time-zone', 'postgresql'],
    flags: ['postgresql'],
    switches: ['postgresql'],
    required: [],
    run: async (context, { options }) => {
      const days = Number(options.days ?? '30');
      if (!Number.isInteger(days) || days < 1 || days > 30) {
        throw new CommandRefused('--days: write a whole number from 1 to 30');
      }
      if (context.env().databaseUrl !== null && options.postgresql === undefined) {
        throw new CommandRefused(
          'DATABASE_URL is set, and demo data is meant for the embedded database: give --postgresql if real users never see this one',
        );
      }
      const timeZone = options['time-zone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
      if (!isZone(timeZone)) {
        throw new CommandRefused('--time-zone: write an IANA zone, like Europe/Berlin');
      }
      const db = await context.db();
      const catalogue = await loadCatalogue(db.pool, context.catalogueSources());
      const startedMs = Date.now();
      const filled = await fillDemo(db.pool, { catalogue, nowMs: startedMs, timeZone, days, seed, scale: 1 });
      await context.announce();
      const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
      const who =
        filled.members > 0
          ? 'Operators find it in the switcher of the console.'
          : 'No operator has signed up: add a member with "gateway member add".';
      return {
        json: filled,
        text: `${filled.calls} calls of ${days} days with ${filled.keys} keys are in the workspace "${filled.slug}" after ${seconds} s. ${who}\n"gateway demo remove" deletes them.`,
      };
    },
  },
];

function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
