import { Refused, refusal } from '#lib/errors';
import { familyOf } from '#lib/families/index';
import { match } from '#lib/families/match';
import type { Call } from '#lib/gateway/call';

/** Steps 1 and 2 of decisions §3: the id, then path and method; both before authentication. */
export function matchOperation(call: Call & { readonly idFailed: boolean }): void {
  if (call.idFailed) {
    throw new Refused(
      refusal(
        'identifier_generation_failed',
        "The gateway's clock is outside 2025 to 2100, so no request id can be made; its operator must set the clock.",
      ),
    );
  }
  const { target, method } = call.arrival;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  call.query = mark < 0 ? '' : target.slice(mark + 1);
  const matched = match(method, path);
  if ('code' in matched) throw new Refused(matched);
  call.operation = matched.operation;
  call.params = matched.params;
  call.family = familyOf(matched.operation.family);
}
