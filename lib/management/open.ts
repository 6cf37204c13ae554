import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { systemClock } from '#lib/clock';
import { clientAddress } from '#lib/console/forwarded';
import type { Db } from '#lib/data/db';
import type { Env } from '#lib/env';
import { createIds } from '#lib/ids';
import { requestsPerMinute } from '#lib/management/limits';
import { manageOnNode } from '#lib/management/node';
import { createPace } from '#lib/management/pace';
import type { ManagementHost } from '#lib/management/serve';
import type { Running } from '#lib/process/running';
import { announce } from '#lib/snapshot/announce';

/** Answers `/api/v1` in this process. */
export function openManagement(
  env: Pick<Env, 'keyPepper' | 'dataDir'>,
  db: Db,
  running: Pick<Running, 'pollNow' | 'runtime'>,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const host: ManagementHost = {
    control: {
      db,
      keyPepper: env.keyPepper,
      catalogue: () => running.runtime.catalogue(),
      changed: async () => {
        await running.pollNow();
        await announce(env.dataDir);
      },
    },
    pace: createPace(requestsPerMinute),
    ids: createIds(systemClock),
    report: (error, id) =>
      log.error(
        { id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) },
        'fault',
      ),
  };
  return (request, response) => {
    manageOnNode(host, request, response, clientAddress(request)).catch((error: unknown) => {
      host.report(error, '');
      response.destroy();
    });
  };
}
