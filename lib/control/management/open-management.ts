import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { requestsPerMinute } from '#lib/control/management/limits';
import { manageOnNode } from '#lib/control/management/node';
import { createPace } from '#lib/control/management/pace';
import type { ManagementHost } from '#lib/control/management/serve';
import type { ControlHost } from '#lib/control/operations/run';
import { stackOf } from '#lib/core/errors';
import { clientAddress } from '#lib/platform/client-address';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

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
