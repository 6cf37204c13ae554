import { isRefusal, type Refusal, Refused } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { openCall } from '#lib/gateway/flow/call/call';
import type { Arrival, Reply } from '#lib/gateway/flow/lane';
import { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { account } from '#lib/gateway/flow/steps/account';
import { authenticate, refuseAddress } from '#lib/gateway/flow/steps/authenticate';
import { matchOperation } from '#lib/gateway/flow/steps/match-operation';
import { breakOff, refuseCall } from '#lib/gateway/flow/steps/refuse-call';

/** A handshake that may open a connection. */
interface AdmittedSocket {
  /** Its request id. */
  readonly id: string;
  readonly snapshot: KeySnapshot;
}

/**
 * Checks the handshake of a WebSocket as the call that its connection is for (contract: sockets/handshake). A refusal is
 * answered and accounted for as that of a call.
 * @param arrival with the method of the call.
 * @param room whether there is room for one more connection of the key.
 * @returns null: it is refused.
 */
export async function admitSocket(
  runtime: Runtime,
  arrival: Arrival,
  lane: Reply,
  room: (snapshot: KeySnapshot) => Refusal | null,
): Promise<AdmittedSocket | null> {
  const call = openCall(runtime, arrival);
  const reply = new LiveReply(lane);
  try {
    const matched = matchOperation(call);
    if (isRefusal(matched)) throw await refuseAddress(runtime, call, matched);
    const { id, snapshot } = await authenticate(runtime, matched);
    const refused = room(snapshot);
    if (refused) throw new Refused(refused);
    return { id, snapshot };
  } catch (error) {
    const sendLastByte = refuseCall(runtime, call, reply, error);
    try {
      await account(runtime, call, reply);
      sendLastByte(reply);
    } catch (unaccounted) {
      runtime.report(unaccounted, call.id);
      breakOff(call, reply);
    }
    return null;
  }
}
