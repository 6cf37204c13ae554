import { alertOperations } from '#lib/control/operations/alert/operations';
import { announcementOperations } from '#lib/control/operations/announcement/operations';
import { autoTopUpOperations } from '#lib/control/operations/auto-top-up/operations';
import { callOperations } from '#lib/control/operations/call/operations';
import { catalogueOperations } from '#lib/control/operations/catalogue/operations';
import { contentOperations } from '#lib/control/operations/content/operations';
import { creditOperations } from '#lib/control/operations/credit/operations';
import type { Operation } from '#lib/control/operations/declare';
import { demoOperations } from '#lib/control/operations/demo/operations';
import { feedbackOperations } from '#lib/control/operations/feedback/operations';
import { fleetOperations } from '#lib/control/operations/fleet/operations';
import { incidentOperations } from '#lib/control/operations/incident/operations';
import { invitationOperations } from '#lib/control/operations/invitation/operations';
import { keyOperations } from '#lib/control/operations/key/operations';
import { ledgerOperations } from '#lib/control/operations/ledger/operations';
import { lowBalanceOperations } from '#lib/control/operations/low-balance/operations';
import { managementKeyOperations } from '#lib/control/operations/management-key/operations';
import { memberOperations } from '#lib/control/operations/member/operations';
import { overviewOperations } from '#lib/control/operations/overview/operations';
import { ownKeyOperations } from '#lib/control/operations/own-key/operations';
import { playgroundOperations } from '#lib/control/operations/playground/operations';
import { policyOperations } from '#lib/control/operations/policy/operations';
import { priceOperations } from '#lib/control/operations/price/operations';
import { providerOperations } from '#lib/control/operations/provider/operations';
import { routeOperations } from '#lib/control/operations/route/operations';
import { secretOperations } from '#lib/control/operations/secret/operations';
import { statusOperations } from '#lib/control/operations/status/operations';
import { tagBudgetOperations } from '#lib/control/operations/tag-budget/operations';
import { topUpOperations } from '#lib/control/operations/top-up/operations';
import { auditOperations } from '#lib/control/operations/trail/operations';
import { usageOperations } from '#lib/control/operations/usage/operations';
import { userOperations } from '#lib/control/operations/user/operations';
import { ownOperations } from '#lib/control/operations/user/own';
import { sessionOperations } from '#lib/control/operations/user/sessions';
import { verificationOperations } from '#lib/control/operations/verification/operations';
import { viewOperations } from '#lib/control/operations/view/operations';
import { webhookOperations } from '#lib/control/operations/webhook/operations';
import { workspaceOperations } from '#lib/control/operations/workspace/operations';

/**
 * Every operation of the control plane (contract: control-plane/declared-once). Anything else is not a command,
 * form or address.
 */
export const operations: readonly Operation[] = [
  ...keyOperations,
  ...managementKeyOperations,
  ...ownKeyOperations,
  ...playgroundOperations,
  ...policyOperations,
  ...catalogueOperations,
  ...providerOperations,
  ...priceOperations,
  ...secretOperations,
  ...routeOperations,
  ...workspaceOperations,
  ...memberOperations,
  ...invitationOperations,
  ...userOperations,
  ...ownOperations,
  ...sessionOperations,
  ...auditOperations,
  ...alertOperations,
  ...webhookOperations,
  ...creditOperations,
  ...callOperations,
  ...contentOperations,
  ...feedbackOperations,
  ...overviewOperations,
  ...tagBudgetOperations,
  ...usageOperations,
  ...viewOperations,
  ...ledgerOperations,
  ...lowBalanceOperations,
  ...topUpOperations,
  ...autoTopUpOperations,
  ...demoOperations,
  ...statusOperations,
  ...incidentOperations,
  ...announcementOperations,
  ...fleetOperations,
  ...verificationOperations,
];
