import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { wasSpare } from '#lib/gateway/upstream/spare-connection';

/** The connection that a request was written to. */
export interface Connection {
  /** It was open before this request: an earlier one was answered on it, or it was opened ahead. */
  readonly reused: boolean;
  /** Whether a byte has arrived on it since this request began. */
  heard(): boolean;
}

/** A handler of a request that wants to know its connection. */
export interface ConnectionUser {
  /** Set before the request is written; called when it is written, and counts it. */
  takeConnection: (() => Connection) | null;
}

/** A client of a pool: one connection, which it reports to its handlers. */
export class TelltaleClient extends Client {
  readonly #use: () => Connection;

  constructor(origin: URL, options: Client.Options) {
    let socket: Socket | null = null;
    let uses = 0;
    const { connect } = options;
    if (typeof connect !== 'function') throw new TypeError('a pool gives its clients a connector');
    const counted: buildConnector.connector = (wanted, done) =>
      connect(wanted, (...result) => {
        socket = result[1];
        uses = socket && wasSpare(socket) ? 1 : 0;
        done(...result);
      });
    super(origin, { ...options, connect: counted });
    this.#use = () => {
      const at = socket;
      const before = at?.bytesRead ?? 0;
      uses += 1;
      return { reused: uses > 1, heard: () => at !== null && at.bytesRead > before };
    };
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (wantsConnection(handler)) handler.takeConnection = this.#use;
    return super.dispatch(options, handler);
  }
}

function wantsConnection(handler: object): handler is ConnectionUser {
  return 'takeConnection' in handler;
}
