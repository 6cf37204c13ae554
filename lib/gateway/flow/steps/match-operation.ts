import { type Refusal, Refused, refusal } from '#lib/core/errors';
import { familyOf } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { type Call, extendCall, type MatchedCall } from '#lib/gateway/flow/call/call';

/**
 * Steps 1 and 2 of admission (contract: admission/order): the id, then path and method; both before authentication.
 * @returns the refusal of an address that is not served.
 * @throws Refused `identifier_generation_failed`.
 */
export function matchOperation(call: Call & { readonly idFailed: boolean }): MatchedCall | Refusal {
  if (call.idFailed) {
    throw new Refused(
      refusal(
        'identifier_generation_failed',
        "The gateway's clock is not between 2025 and 2100, so no request id can be made; its operator must set the clock.",
      ),
    );
  }
  const { target, method, headers } = call.arrival;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const matched = match(method, path, headers);
  if ('code' in matched) {
    extendCall(call, { query });
    return asksForSocket(call, matched) ? noSocket(matched) : matched;
  }
  const { operation } = matched;
  if (operation.socket && call.arrival.inSession !== true) return onlySocket();
  const params = operation.socket ? sessionParams(query) : matched.params;
  return extendCall(call, { query, operation, params, family: familyOf(operation.family) });
}

/** A session names its model, and what it is for, in the query. */
function sessionParams(query: string): Readonly<Record<string, string>> {
  const asked = new URLSearchParams(query);
  return { model: asked.get('model') ?? '', intent: asked.get('intent') ?? '' };
}

/** Whether a 405 is due to a WebSocket handshake, which is a GET, on a path that only accepts POST. */
function asksForSocket({ arrival }: Call, { code }: Refusal): boolean {
  return code === 'method_not_allowed' && /\bwebsocket\b/i.test(arrival.headers.upgrade ?? '');
}

/** 426 instead of 405: clients that prefer WebSockets then fall back to HTTP at once, while 405 makes them retry. */
function noSocket({ allow }: Refusal): Refusal {
  return refusal(
    'method_not_allowed',
    'This WebSocket handshake is not accepted; send the request by HTTP POST.',
    {
      status: 426,
      ...(allow === undefined ? {} : { allow }),
    },
  );
}

/** An HTTP request for a session, or a handshake in a lane that has no WebSockets (contract: realtime/handshake). */
function onlySocket(): Refusal {
  return refusal(
    'method_not_allowed',
    'The Realtime API is served over a WebSocket only; connect one to this address, on a gateway that serves calls by its node lane.',
    { status: 426, allow: 'GET' },
  );
}
