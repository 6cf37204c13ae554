import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { systemClock } from '#lib/clock';
import { clientAddress } from '#lib/console/forwarded';
import type { ControlHost } from '#lib/control/run';
import { stackOf } from '#lib/errors';
import { createIds } from '#lib/ids';
import { requestsPerMinute } from '#lib/management/limits';
import { manageOnNode } from '#lib/management/node';
import { createPace } from '#lib/management/pace';
import type { ManagementHost } from '#lib/management/serve';

/** Answers `/api/v1` in this process. */
export function openManagement(
  control: ControlHost,
  proxyHops: number,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const host: ManagementHost = {
    control,
    pace: createPace(requestsPerMinute),
    ids: createIds(systemClock),
    report: (error, id) => log.error({ id, reason: stackOf(error) }, 'fault'),
  };
  return (request, response) => {
    manageOnNode(host, request, response, clientAddress(request, proxyHops)).catch((error: unknown) => {
      host.report(error, '');
      response.destroy();
    });
  };
}
