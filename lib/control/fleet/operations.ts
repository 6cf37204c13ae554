import { showFleetHealth } from '#lib/control/fleet/health';
import { listJournals } from '#lib/control/fleet/journals';
import { listLeases, listProcesses } from '#lib/control/fleet/processes';

/** What the people who run the gateway watch. */
export const fleetOperations = [listProcesses, listLeases, listJournals, showFleetHealth];
