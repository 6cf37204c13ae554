'use server';

import { ownAction } from '#lib/console/own-account';
import { openWorkspace } from '#lib/control/operations/workspace/open-workspace';

export const openWorkspaceAction = ownAction(openWorkspace);
