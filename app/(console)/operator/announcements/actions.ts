'use server';

import { operationAction } from '#lib/console/operation';
import { createAnnouncement, endAnnouncement } from '#lib/control/operations/announcement/operations';

export const createAnnouncementAction = operationAction(createAnnouncement);

export const endAnnouncementAction = operationAction(endAnnouncement);
