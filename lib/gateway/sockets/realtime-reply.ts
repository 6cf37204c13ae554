import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import type { Connection } from '#lib/gateway/sockets/connection';
import { realtimeError } from '#lib/gateway/sockets/pure/realtime-event';

/** Sends the refusal of an event as an `error` event (contract: realtime/refused-events). */
export class RealtimeReply implements Reply {
  readonly #connection: Connection | null;
  readonly #eventId: string | null;
  #status = 0;
  #id = '';

  /** @param connection null: its client has not asked, and is not told. */
  constructor(connection: Connection | null, eventId: string | null) {
    this.#connection = connection;
    this.#eventId = eventId;
  }

  start(status: number, headers: HeaderList): void {
    this.#status = status;
    this.#id = headers[headers.indexOf('x-request-id') + 1] ?? '';
  }

  started(): boolean {
    return this.#status !== 0;
  }

  write(): boolean {
    return true;
  }

  onDrain(): void {}

  end(last?: Uint8Array | string): void {
    const { error } = JSON.parse(String(last ?? '{}')) as { error?: { code?: string; message?: string } };
    const type =
      this.#status === 429
        ? 'rate_limit_error'
        : this.#status < 500
          ? 'invalid_request_error'
          : 'server_error';
    this.#connection?.send(
      realtimeError({
        id: this.#id,
        type,
        code: error?.code ?? 'upstream_request_failed',
        message: error?.message ?? 'The request failed; retry.',
        eventId: this.#eventId,
      }),
    );
  }

  cut(): void {}
}
