'use server';

import { operationAction } from '#lib/console/operation';
import { createIncident, resolveIncident, updateIncident } from '#lib/control/operations/incident/operations';

export const createIncidentAction = operationAction(createIncident);

export const updateIncidentAction = operationAction(updateIncident);

export const resolveIncidentAction = operationAction(resolveIncident);
