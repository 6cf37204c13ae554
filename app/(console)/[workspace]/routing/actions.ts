'use server';

import { operationAction } from '#lib/console/operation';
import { discardDraft, openPolicy, publishPolicy, saveDraft } from '#lib/control/operations/policy/drafts';
import { rollBackPolicy } from '#lib/control/operations/policy/operations';
import { reviewPolicy } from '#lib/control/operations/policy/review';
import { showHealth } from '#lib/control/operations/route/health';
import { explainRoute } from '#lib/control/operations/route/operations';

export const openPolicyAction = operationAction(openPolicy);

export const reviewPolicyAction = operationAction(reviewPolicy);

export const saveDraftAction = operationAction(saveDraft);

export const discardDraftAction = operationAction(discardDraft);

export const publishPolicyAction = operationAction(publishPolicy);

export const rollBackPolicyAction = operationAction(rollBackPolicy);

export const explainRouteAction = operationAction(explainRoute);

export const showHealthAction = operationAction(showHealth);
