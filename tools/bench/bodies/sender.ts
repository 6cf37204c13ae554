import { connect } from 'node:net';

/** How one request ended; status 0: the connection broke before the answer. */
export interface Sent {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

/** A call with the other key. */
export interface Probed extends Sent {
  /** Without the time that the server waited for its core, as on a quiet machine. */
  readonly ownMs: number;
}

export interface Sending {
  readonly port: number;
  readonly key: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** Bytes per second; absent: as fast as possible. */
  readonly rate?: number;
  readonly signal?: AbortSignal;
}

/** Sends one request over a raw socket and reads the head of its answer. */
export function send({ port, key, path, contentType, body, rate, signal }: Sending): Promise<Sent> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const socket = connect(port, '127.0.0.1');
    const finish = () => {
      clearInterval(timer);
      socket.removeAllListeners().on('error', () => {});
      socket.destroy();
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
      resolve({ status: Number(text.split(' ')[1] ?? 0), code, ms: performance.now() - startMs });
    };
    socket.on('connect', () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`,
      );
      if (rate === undefined) {
        socket.write(body);
        return;
      }
      let at = 0;
      timer = setInterval(() => {
        socket.write(body.subarray(at, at + rate / 4));
        at += rate / 4;
      }, 250);
    });
    socket.on('data', (part) => {
      if (text.length < 16_384) text += part.toString('latin1');
    });
    socket.on('end', finish).on('error', finish);
    signal?.addEventListener('abort', finish);
  });
}
