import { type DeliveryHost, deliverOne, deliveryHost } from '#lib/control/alerts/deliver';
import { tellAlerts } from '#lib/control/alerts/raise';
import { type AskUse, RateWatch } from '#lib/control/alerts/rates';
import { inLanes } from '#lib/platform/in-lanes';
import { type Repeated, repeat } from '#lib/platform/repeat';

const lookMs = 30_000;
const sendMs = 2_000;
/** Events sent at the same time, each of another webhook. */
const lanes = 4;

/** Looks for conditions to alert on and sends events, in any number of processes; nothing waits for either. */
export function startAlerts(
  given: Pick<DeliveryHost, 'pool' | 'sealingKey' | 'report'> & { readonly limitUse: AskUse },
): Repeated {
  const host = deliveryHost(given);
  const rates = new RateWatch(host.pool, given.limitUse);
  let stopped = false;
  const sendAll = () => inLanes(lanes, async (found) => !stopped && (await deliverOne(host, found)));
  const look = async () => {
    const nowMs = Date.now();
    await tellAlerts(host.pool, nowMs, await rates.find(nowMs));
    await forget(host);
  };
  const running = [repeat(lookMs, look, host.report), repeat(sendMs, sendAll, host.report)];
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(running.map((one) => one.stop()));
      await host.dispatcher.close();
    },
  };
}

/** Deletes deliveries older than a month. */
async function forget({ pool }: Pick<DeliveryHost, 'pool'>): Promise<void> {
  await pool.query(
    `DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM webhook_delivery
       WHERE created_at < now() - interval '30 days' LIMIT 1000)`,
  );
}
