'use server';

import { operationAction } from '#lib/console/operation';
import { discardDraft, openPolicy, publishPolicy, saveDraft } from '#lib/control/policy/drafts';
import { rollBackPolicy } from '#lib/control/policy/operations';
import { reviewPolicy } from '#lib/control/policy/review';
import { showHealth } from '#lib/control/route/health';
import { explainRoute } from '#lib/control/route/operations';

export const openPolicyAction = operationAction(openPolicy);

export const reviewPolicyAction = operationAction(reviewPolicy);

export const saveDraftAction = operationAction(saveDraft);

export const discardDraftAction = operationAction(discardDraft);

export const publishPolicyAction = operationAction(publishPolicy);

export const rollBackPolicyAction = operationAction(rollBackPolicy);

export const explainRouteAction = operationAction(explainRoute);

export const showHealthAction = operationAction(showHealth);
