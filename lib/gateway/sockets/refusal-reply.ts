import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';

/** Answers a handshake by HTTP, and closes its connection. */
export class RefusalReply implements Reply {
  readonly #response: ServerResponse;
  readonly #socket: Socket;

  constructor(request: IncomingMessage, socket: Socket) {
    this.#socket = socket;
    this.#response = new ServerResponse(request);
    this.#response.shouldKeepAlive = false;
    this.#response.on('finish', () => socket.destroySoon());
  }

  start(status: number, headers: HeaderList, reason?: string): void {
    this.#response.assignSocket(this.#socket);
    if (reason === undefined) this.#response.writeHead(status, headers);
    else this.#response.writeHead(status, reason, headers);
  }

  started(): boolean {
    return this.#response.headersSent;
  }

  write(chunk: Uint8Array): boolean {
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  end(last?: Uint8Array | string): void {
    this.#response.end(last);
  }

  cut(): void {
    this.#response.destroy();
  }
}
