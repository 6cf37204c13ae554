import { type DeliveryHost, deliverOne, deliveryHost } from '#lib/control/alerts/deliver';
import { tellAlerts } from '#lib/control/alerts/raise';
import { type AskUse, RateWatch } from '#lib/control/alerts/rates';

export interface AlertWorker {
  /** Waits for what is being done. */
  stop(): Promise<void>;
}

const lookMs = 30_000;
const sendMs = 2_000;
/** Events sent at the same time, each of another webhook. */
const lanes = 4;
const kept = '30 days';

/** Looks for conditions to alert on and sends events, in any number of processes; nothing waits for either. */
export function startAlerts(
  given: Pick<DeliveryHost, 'pool' | 'sealingKey' | 'report'> & { readonly limitUse: AskUse },
): AlertWorker {
  const host = deliveryHost(given);
  const rates = new RateWatch(host.pool, given.limitUse);
  let stopped = false;
  const every = (ms: number, work: () => Promise<unknown>) => {
    let running: Promise<unknown> | null = null;
    const timer = setInterval(() => {
      running ??= work()
        .catch(host.report)
        .finally(() => {
          running = null;
        });
    }, ms);
    timer.unref();
    return async () => {
      clearInterval(timer);
      await running;
    };
  };
  const sendAll = async () => {
    while (!stopped && (await deliverOne(host)));
  };
  const ends = [
    every(lookMs, async () => {
      const nowMs = Date.now();
      await tellAlerts(host.pool, nowMs, await rates.find(nowMs));
      await forget(host);
    }),
    every(sendMs, () => Promise.all(Array.from({ length: lanes }, sendAll))),
  ];
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(ends.map((end) => end()));
      await host.dispatcher.close();
    },
  };
}

/** Deletes deliveries older than a month. */
async function forget({ pool }: Pick<DeliveryHost, 'pool'>): Promise<void> {
  await pool.query(
    `DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM webhook_delivery
       WHERE created_at < now() - interval '${kept}' LIMIT 1000)`,
  );
}
