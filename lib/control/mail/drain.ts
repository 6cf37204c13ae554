import type { Letter } from '#lib/control/mail/letter';
import type { Transport } from '#lib/control/mail/transport';
import { messageOf } from '#lib/core/errors';
import type { Db } from '#lib/platform/data/db';
import { inLanes } from '#lib/platform/in-lanes';

/** A mail in the outbox. */
export interface Mail {
  readonly id: string;
  readonly kind: string;
  readonly recipient: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface OutboxHost {
  readonly db: Db;
  readonly transport: Transport;
  /** Writes the letter now, with its own link; null: there is nothing to send to this address. */
  compose(mail: Mail): Promise<Letter | null>;
  report(error: unknown): void;
  /** How long it waits after it was woken, ms; 0 if absent. */
  restMs?(): number;
}

export interface Outbox {
  /** There may be something to send. */
  wake(): void;
  /** Waits for what is being sent. */
  stop(): Promise<void>;
}

/** How often it looks without being woken: for mail that another process queued, or left behind. */
const lookMs = 15_000;
/** Letters that are sent at the same time. */
const lanes = 4;
/** How long a process may keep a mail before it counts as dead; longer than the mail server may take. */
const takenSeconds = 120;
/** Pauses after failed tries, seconds; the last one repeats. */
const pauses = [5, 30, 120, 600, 3600] as const;

const take = `
  UPDATE mail SET tries = tries + 1, next_try_at = now() + make_interval(secs => ${takenSeconds})
  WHERE id = (SELECT id FROM mail WHERE next_try_at <= now() AND expires_at > now()
    ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id::text AS id, kind, recipient, facts, tries`;

/**
 * Sends the mails in the outbox, oldest first, in any number of processes. One of them takes each mail for two minutes:
 * a crash before it was handed over delays it by that, a crash right after sends it twice, and no crash loses it.
 */
export function openOutbox(host: OutboxHost): Outbox {
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let resting: NodeJS.Timeout | undefined;
  const run = async () => {
    do {
      again = false;
      await inLanes(lanes, async (found) => !stopped && (await sendNext(host, found)));
    } while (again && !stopped);
  };
  const start = () => {
    again = true;
    if (stopped) return;
    running ??= run()
      .catch((error: unknown) => host.report(error))
      .finally(() => {
        running = null;
      });
  };
  const wake = () => {
    if (stopped) return;
    resting ??= setTimeout(() => {
      resting = undefined;
      start();
    }, host.restMs?.() ?? 0).unref();
  };
  const timer = setInterval(() => {
    start();
    void forget(host).catch((error: unknown) => host.report(error));
  }, lookMs);
  timer.unref();
  start();
  return {
    wake,
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      clearTimeout(resting);
      await running;
      await host.transport.close();
    },
  };
}

/** @returns whether a mail was due. */
async function sendNext(host: OutboxHost, found: () => void): Promise<boolean> {
  const { rows } = await host.db.pool.query<Mail & { tries: number }>(take);
  const [mail] = rows;
  if (mail === undefined) return false;
  found();
  await sendOne(host, mail);
  return true;
}

async function sendOne(host: OutboxHost, mail: Mail & { tries: number }): Promise<void> {
  try {
    const letter = await host.compose(mail);
    if (letter) await host.transport.send(letter, mail.id);
    await host.db.pool.query(
      `UPDATE mail SET next_try_at = NULL, error = NULL, sent_at = ${letter ? 'now()' : 'NULL'} WHERE id = $1::uuid`,
      [mail.id],
    );
  } catch (error) {
    const reason = messageOf(error);
    host.report(new Error(`mail ${mail.id} (${mail.kind}) was not sent: ${reason}; it will be tried again`));
    const pause = pauses[Math.min(mail.tries, pauses.length) - 1] ?? 5;
    await host.db.pool.query(
      `UPDATE mail SET next_try_at = now() + make_interval(secs => $2::int), error = $3 WHERE id = $1::uuid`,
      [mail.id, pause, reason.replaceAll('\0', '').slice(0, 500)],
    );
  }
}

/** Deletes mails older than a week. */
async function forget({ db }: OutboxHost): Promise<void> {
  await db.pool.query(
    `DELETE FROM mail WHERE id IN (SELECT id FROM mail WHERE created_at < now() - interval '7 days' LIMIT 1000)`,
  );
}
