import type { Pool } from 'pg';
import { Agent, type Dispatcher, request } from 'undici';
import { refuseAddress } from '#lib/control/alerts/address';
import { signatureOf, webhookContext } from '#lib/control/alerts/sign';
import { messageOf } from '#lib/core/errors';
import { redirectLookup } from '#lib/gateway/upstream/address-guard';
import { open, type SealingKey } from '#lib/platform/sealing';

/** What sends events. */
export interface DeliveryHost {
  readonly pool: Pool;
  /** null: no secret can be opened here, so nothing is sent. */
  readonly sealingKey: SealingKey | null;
  report(error: unknown): void;
  /** Why an address is refused; null: it is not. Checked at each try, because what a name resolves to changes. */
  refuse(url: string): Promise<string | null>;
  /** Connects to public addresses only. */
  readonly dispatcher: Dispatcher;
  /** How long a receiver may take for an answer, ms. */
  readonly answerMs: number;
}

interface Taken {
  id: string;
  webhook_id: string;
  url: string;
  secret: string;
  event: string;
  body: string;
  tries: number;
}

/** Pauses after failed tries, seconds; the last one repeats, for a day. */
const pauses = [10, 60, 300, 1800, 7200, 14_400] as const;
const daySeconds = 86_400;
/** Longer than a receiver may take. */
const takenSeconds = 60;
/** How much of an answer is read. */
const answerBytes = 16_384;

/** Receivers of one workspace that all processes together try at once: the other lanes are for other workspaces. */
const mostOfWorkspace = 2;

/** The oldest that is due, of a webhook that no process is trying at the moment: a slow receiver delays only itself. */
const take = `
  WITH trying AS MATERIALIZED (SELECT webhook_id, workspace_id FROM webhook_delivery WHERE taken_until > now())
  UPDATE webhook_delivery d SET tries = d.tries + 1, taken_until = now() + make_interval(secs => ${takenSeconds}),
    next_try_at = now() + make_interval(secs => ${takenSeconds})
  FROM webhook h WHERE h.id = d.webhook_id AND d.id = (
    SELECT o.id FROM webhook_delivery o JOIN webhook e ON e.id = o.webhook_id WHERE o.next_try_at <= now() AND e.enabled
      AND NOT EXISTS (SELECT FROM trying t WHERE t.webhook_id = o.webhook_id)
      AND (SELECT count(*) FROM trying t WHERE t.workspace_id = o.workspace_id) < ${mostOfWorkspace}
    ORDER BY o.next_try_at LIMIT 1 FOR UPDATE OF o SKIP LOCKED)
  RETURNING d.id::text AS id, d.webhook_id::text AS webhook_id, h.url, h.secret, d.event, d.body, d.tries`;

const taken = `
  UPDATE webhook_delivery SET delivered_at = now(), next_try_at = NULL, taken_until = NULL, status = $2, error = NULL
  WHERE id = $1::uuid`;

const failed = `
  UPDATE webhook_delivery SET taken_until = NULL, status = $2, error = $3, next_try_at = CASE
    WHEN now() + make_interval(secs => $4::int) < since + make_interval(secs => ${daySeconds})
    THEN now() + make_interval(secs => $4::int) END
  WHERE id = $1::uuid`;

/** Connections of webhooks: names are resolved and checked in one step, redirects are not followed. */
function publicDispatcher(): Agent {
  return new Agent({ connect: { lookup: redirectLookup, timeout: 5_000 }, keepAliveTimeout: 1_000 });
}

/** Sends one event that is due. @param found called before it is sent. @returns whether there was one. */
export async function deliverOne(host: DeliveryHost, found = () => {}): Promise<boolean> {
  const { rows } = await host.pool.query<Taken>(take);
  const [delivery] = rows;
  if (delivery === undefined) return false;
  found();
  const { id, tries } = delivery;
  const sent = await send(host, delivery).catch((error: unknown) => ({
    status: null,
    error: deliveryFailure(error),
  }));
  if (sent.error === null) await host.pool.query(taken, [id, sent.status]);
  else {
    const pause = pauses[Math.min(tries, pauses.length) - 1] ?? pauses[0];
    await host.pool.query(failed, [id, sent.status, sent.error, pause]);
  }
  return true;
}

async function send(host: DeliveryHost, { id, webhook_id, url, secret, event, body, tries }: Taken) {
  if (host.sealingKey === null) throw new Error('the gateway has no ENCRYPTION_KEY');
  const refused = await host.refuse(url);
  if (refused !== null) return { status: null, error: refused };
  const key = open(secret, host.sealingKey, webhookContext(webhook_id));
  const atSeconds = Math.floor(Date.now() / 1000);
  const signal = AbortSignal.timeout(host.answerMs);
  const answer = await request(url, {
    method: 'POST',
    body,
    dispatcher: host.dispatcher,
    signal,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'model-gateway-webhook',
      'x-gateway-event': event,
      'x-gateway-delivery': id,
      'x-gateway-attempt': String(tries),
      'x-gateway-signature': signatureOf(key, atSeconds, body),
    },
  });
  await answer.body.dump({ limit: answerBytes, signal }).catch(() => undefined);
  const { statusCode: status } = answer;
  if (status >= 200 && status < 300) return { status, error: null };
  const redirect =
    status >= 300 && status < 400 ? '; redirects are not followed, so enter the final address' : '';
  return { status, error: `it returned ${status}${redirect}` };
}

function deliveryFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not respond in time';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'REDIRECT_REFUSED') return 'its name resolves to a private address';
  return messageOf(error).replaceAll('\0', '').slice(0, 300);
}

/** How it is done in a process that serves. */
export function deliveryHost(host: Pick<DeliveryHost, 'pool' | 'sealingKey' | 'report'>): DeliveryHost {
  return { ...host, refuse: refuseAddress, dispatcher: publicDispatcher(), answerMs: 10_000 };
}
