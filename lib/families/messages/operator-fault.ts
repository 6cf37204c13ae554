import { objectIn, textIn } from '#lib/families/reading/json';
import { namesInvalidKey } from '#lib/families/reading/operator-fault';

/** Error types that concern the account, whatever status they come with. */
const accountTypes = new Set(['authentication_error', 'billing_error', 'permission_error']);

/** `details.error_code` of a limit or a state of the account. */
const accountCodes =
  /^(ramp_limit_exceeded|enforced_spend_limit_reached|contract_spend_limit_reached|organization_on_hold)$/;

/** An unpaid, disabled or exhausted account is a plain 400, recognisable by its message alone. */
const accountMessages =
  /^(your credit balance is too low|this organization has been disabled|you have reached your (specified )?api usage limits)/i;

/** An answer that is the operator's fault, not the client's (contract: families/operator-fault). */
export function isMessagesOperatorFault(status: number, body: unknown): boolean {
  if (status === 401 || status === 402 || status === 403) return true;
  if (status !== 400) return false;
  const error = objectIn(objectIn(body)?.error);
  const type = textIn(error?.type) ?? '';
  const code = textIn(objectIn(error?.details)?.error_code) ?? '';
  const message = textIn(error?.message) ?? '';
  return (
    accountTypes.has(type) ||
    accountCodes.test(code) ||
    accountMessages.test(message) ||
    namesInvalidKey(body)
  );
}
