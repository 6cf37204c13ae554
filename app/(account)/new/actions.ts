'use server';

import { ownAction } from '#lib/console/account/own';
import { openWorkspace } from '#lib/control/workspace/open';

export const openWorkspaceAction = ownAction(openWorkspace);
