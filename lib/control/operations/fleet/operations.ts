import { showFleetHealth } from '#lib/control/operations/fleet/health';
import { listJournals } from '#lib/control/operations/fleet/journals';
import { listLeases, listProcesses } from '#lib/control/operations/fleet/processes';

/** What operators watch. */
export const fleetOperations = [listProcesses, listLeases, listJournals, showFleetHealth];
