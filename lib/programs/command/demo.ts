import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Command, CommandRefused } from '#lib/programs/command/command';
import { fillDemo } from '#tools/demo/fill';

const seed = 20_260_101;

/** Not an operation of the control plane, because it takes many short transactions so as not to block a running gateway. */
export const demo: readonly Command[] = [
  {
    name: 'demo fill',
    usage: '[--days N] [--time-zone ZONE] [--postgresql]',
    summary:
      'Fills the workspace "demo-data" with made-up calls, sums and ledger, replacing earlier demo data. "gateway demo remove" deletes it.',
    help: [
      ['--days', 'Days of calls, 1 to 30. Default: 30.'],
      ['--time-zone', 'IANA time zone of the made-up users. Default: this machine’s.'],
      ['--postgresql', 'Allows using the database in DATABASE_URL.'],
    ],
    positionals: [],
    options: ['days', 'time-zone', 'postgresql'],
    switches: ['postgresql'],
    required: [],
    run: async (context, { options }) => {
      const days = Number(options.days ?? '30');
      if (!Number.isInteger(days) || days < 1 || days > 30) {
        throw new CommandRefused('--days: must be a whole number from 1 to 30');
      }
      if (context.env().databaseUrl !== null && options.postgresql === undefined) {
        throw new CommandRefused(
          'DATABASE_URL is set, but demo data is meant for the embedded database; add --postgresql if real users never see this database',
        );
      }
      const timeZone = options['time-zone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
      if (!isZone(timeZone)) {
        throw new CommandRefused('--time-zone: must be an IANA time zone such as Europe/Berlin');
      }
      const db = await context.db();
      const catalogue = await loadCatalogue(db.pool, context.catalogueSources());
      const startedMs = Date.now();
      const filled = await fillDemo(db.pool, { catalogue, nowMs: startedMs, timeZone, days, seed, scale: 1 });
      await context.announce();
      const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
      const who =
        filled.members > 0
          ? 'Operators can open it from the switcher of the console.'
          : 'There is no operator yet; add a member with "gateway member add".';
      return {
        json: filled,
        text: `Created ${filled.calls} calls of ${days} days with ${filled.keys} keys in the workspace "${filled.slug}" in ${seconds} s. ${who}\n"gateway demo remove" deletes them.`,
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
