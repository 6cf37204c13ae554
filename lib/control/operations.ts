import { alertOperations } from '#lib/control/alert/operations';
import { announcementOperations } from '#lib/control/announcement/operations';
import { autoTopUpOperations } from '#lib/control/auto-top-up/operations';
import { callOperations } from '#lib/control/call/operations';
import { catalogueOperations } from '#lib/control/catalogue/operations';
import { creditOperations } from '#lib/control/credit/operations';
import type { Operation } from '#lib/control/declare';
import { demoOperations } from '#lib/control/demo/operations';
import { fleetOperations } from '#lib/control/fleet/operations';
import { incidentOperations } from '#lib/control/incident/operations';
import { invitationOperations } from '#lib/control/invitation/operations';
import { keyOperations } from '#lib/control/key/operations';
import { ledgerOperations } from '#lib/control/ledger/operations';
import { lowBalanceOperations } from '#lib/control/low-balance/operations';
import { managementKeyOperations } from '#lib/control/management-key/operations';
import { memberOperations } from '#lib/control/member/operations';
import { overviewOperations } from '#lib/control/overview/operations';
import { playgroundOperations } from '#lib/control/playground/operations';
import { policyOperations } from '#lib/control/policy/operations';
import { priceOperations } from '#lib/control/price/operations';
import { providerOperations } from '#lib/control/provider/operations';
import { routeOperations } from '#lib/control/route/operations';
import { secretOperations } from '#lib/control/secret/operations';
import { statusOperations } from '#lib/control/status/operations';
import { topUpOperations } from '#lib/control/top-up/operations';
import { auditOperations } from '#lib/control/trail/operations';
import { usageOperations } from '#lib/control/usage/operations';
import { userOperations } from '#lib/control/user/operations';
import { ownOperations } from '#lib/control/user/own';
import { sessionOperations } from '#lib/control/user/sessions';
import { verificationOperations } from '#lib/control/verification/operations';
import { webhookOperations } from '#lib/control/webhook/operations';
import { workspaceOperations } from '#lib/control/workspace/operations';

/**
 * Every operation of the control plane (contract: control-plane/declared-once). What is not here is no command, no
 * form and no address.
 */
export const operations: readonly Operation[] = [
  ...keyOperations,
  ...managementKeyOperations,
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
  ...overviewOperations,
  ...usageOperations,
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
