import { z } from 'zod';
import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';
import { mayReadView } from '#lib/control/operations/view/week';
import { dayName, knownZone } from '#lib/core/charts/zone';
import { deltaOf } from '#lib/core/delta';
import { showCount, showMoney } from '#lib/core/show-money';
import { viewAddress } from '#lib/core/view-address';
import type { Db } from '#lib/platform/data/db';

const figures = z.object({
  calls: z.number(),
  errors: z.number(),
  cost: z.string(),
  tokens: z.number(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  all: z.boolean(),
});
type Figures = z.output<typeof figures>;

/** What `lib/control/views/weekly.ts` queues. */
const facts = z.object({
  view: z.uuid(),
  user: z.uuid(),
  from: z.number(),
  to: z.number(),
  figures: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.object({ now: figures, before: figures.nullable() })),
});

/** Read when it is sent: a member who has left or unsubscribed meanwhile gets nothing. */
const subscription = `
  SELECT v.name, v.page, v.query, w.slug, w.name AS workspace, w.time_zone AS zone
  FROM view_subscription s JOIN saved_view v ON v.id = s.view_id
  JOIN workspace w ON w.id = v.workspace_id AND w.deleted_at IS NULL
  JOIN "user" u ON u.id = s.user_id
  WHERE s.view_id = $1::uuid AND s.user_id = $2::uuid AND ${mayReadView}`;

interface Subscribed {
  readonly name: string;
  readonly page: string;
  readonly query: string;
  readonly slug: string;
  readonly workspace: string;
  readonly zone: string;
}

/**
 * The weekly mail about a saved view (contract: control-plane/view-mail). @returns null if its reader is no longer
 * subscribed, or not a member any more.
 */
export async function viewLetter(
  { db, publicUrl }: { readonly db: Db; readonly publicUrl: string },
  { recipient, facts: stored }: Mail,
): Promise<Letter | null> {
  const {
    view,
    user,
    from,
    to,
    figures: { now, before },
  } = facts.parse(stored);
  const { rows } = await db.pool.query<Subscribed>(subscription, [view, user]);
  const [row] = rows;
  if (row === undefined) return null;
  const zone = knownZone(row.zone);
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const here = `${publicUrl}/${encodeURIComponent(row.slug)}`;
  const week = `${dayName(from, zone)} to ${dayName(to - 1, zone)}`;
  const compared = before?.all && now.all ? before : null;
  return writeLetter({
    to: recipient,
    subject: `${row.workspace}: ${row.name}, ${week}`,
    paragraphs: [
      `The view “${row.name}” of the workspace ${row.workspace} in the week from ${week} (${zone})${compared ? ', compared with the week before' : ''}:`,
      ...(now.all
        ? []
        : ['There were too many calls to compare all of them, so this counts the newest of the week.']),
    ],
    figures: lines(now, compared),
    action: { label: 'Open the view', link: `${here}/${viewAddress(row, range)}` },
    notes: [
      'You get this email every Monday because you asked for it.',
      `To end it, choose “Stop weekly email” beside the view: ${here}/alerts#saved-views`,
    ],
  });
}

function lines(now: Figures, before: Figures | null): { name: string; value: string }[] {
  const line = (
    name: string,
    read: (one: Figures) => number | null,
    show: (one: number, of: Figures) => string,
  ) => {
    const [value, was] = [read(now), before && read(before)];
    if (value === null) return [];
    const change = deltaOf(value, was)?.text;
    const compared =
      before === null || was === null
        ? ''
        : ` (${change === undefined ? '' : `${change}, `}before: ${show(was, before)})`;
    return [{ name, value: `${show(value, now)}${compared}` }];
  };
  return [
    ...line('Calls', ({ calls }) => calls, showCount),
    ...line('Errors', ({ errors }) => errors, showCount),
    ...line(
      'Spend',
      ({ cost }) => Number(cost),
      (_, { cost }) => showMoney(cost),
    ),
    ...line('Tokens', ({ tokens }) => tokens, showCount),
    ...line('Latency p50', ({ p50Ms }) => p50Ms, showMs),
    ...line('Latency p95', ({ p95Ms }) => p95Ms, showMs),
  ];
}

function showMs(ms: number): string {
  return `${showCount(Math.round(ms))} ms`;
}
