import { catalogueOperations } from '#lib/control/catalogue/operations';
import type { Operation } from '#lib/control/declare';
import { keyOperations } from '#lib/control/key/operations';
import { managementKeyOperations } from '#lib/control/management-key/operations';
import { policyOperations } from '#lib/control/policy/operations';

/** Every operation of the control plane. What is not here is no command, no form and no address. */
export const operations: readonly Operation[] = [
  ...keyOperations,
  ...managementKeyOperations,
  ...policyOperations,
  ...catalogueOperations,
];
