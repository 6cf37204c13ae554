import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { readJson } from '#tools/sandbox/content/tool-call';
import { freeOfCharge } from '#tools/sandbox/dialect';
import { getModel } from '#tools/sandbox/models';
import { baseOf, type ChargedResponse, isTranscriber, Session } from '#tools/sandbox/realtime/session';
import { Scenarios } from '#tools/sandbox/scenario/plan';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import type { TruthLog } from '#tools/sandbox/truth-log';

interface Settings {
  readonly truth: TruthLog;
  readonly key: string | null;
  readonly paceMs: number;
}

/** The longest message of a client, bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Answers handshakes for `/v1/realtime`; the truth log has each event of a client but audio, and each response. @returns open sessions. */
export function serveRealtime(server: Server, { truth, key, paceMs }: Settings): ReadonlySet<WebSocket> {
  const scenarios = new Scenarios(paceMs);
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MOST_BYTES,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const url = new URL(request.url ?? '', 'http://sandbox');
    const model = url.searchParams.get('model') ?? '';
    const transcribes = url.searchParams.get('intent') === 'transcription';
    const seen = {
      id: `req_${randomUUID()}`,
      method: 'GET',
      path: '/realtime',
      query: url.searchParams,
      headers: request.headers as Record<string, string>,
      body: Buffer.alloc(0),
      atMs: Date.now(),
    };
    truth.begin(seen);
    socket.on('error', () => socket.destroy());
    const fault =
      url.pathname === '/v1/realtime'
        ? faultOf(request, { model, transcribes }, key)
        : new ProviderFault(404, 'Invalid URL');
    if (fault) return refuse(socket, fault);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const charged = (response: ChargedResponse) =>
        truth.end(
          {
            ...freeOfCharge,
            inputTokens: response.inputTokens,
            cachedTokens: response.cachedTokens,
            outputTokens: response.outputTokens,
            usageReported: response.usageReported,
            id: response.id,
            at: new Date().toISOString(),
            family: 'realtime',
            model,
            fault: null,
            stream: true,
            status: 101,
            end: 'completed',
            abortedAt: null,
            durationMs: 0,
            chunksSent: 0,
            bytesSent: 0,
          },
          Buffer.alloc(0),
        );
      const session = new Session({ socket: opened, model, transcribes, scenarios, charged });
      opened.on('error', () => {});
      opened.on('message', (data, isBinary) => {
        const body = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
        const heard = body.includes('input_audio_buffer.append');
        if (!heard) truth.begin({ ...seen, method: isBinary ? 'BINARY' : 'TEXT', body });
        if (isBinary) {
          opened.send(body, { binary: true });
          return;
        }
        let event: Readonly<Record<string, unknown>>;
        try {
          event = readJson(body);
        } catch {
          session.refuse('invalid_json', 'The event is not JSON.');
          return;
        }
        session.take(event).catch((error) => {
          const message = error instanceof Error ? error.message : '';
          session.refuse(error instanceof ProviderFault ? 'model_not_found' : 'server_error', message);
        });
      });
    });
  });
  return sockets.clients;
}

function faultOf(
  { headers }: IncomingMessage,
  { model, transcribes }: { readonly model: string; readonly transcribes: boolean },
  key: string | null,
): ProviderFault | null {
  if (key !== null && headers.authorization !== `Bearer ${key}`) {
    return new ProviderFault(401, 'Incorrect API key provided.', 'invalid_api_key');
  }
  if (transcribes) {
    return model === ''
      ? null
      : new ProviderFault(400, 'You must not provide a model parameter for transcription sessions.');
  }
  try {
    if (isTranscriber(model)) {
      return new ProviderFault(
        400,
        `Model ${model} is a transcription model and cannot be used as the realtime session model.`,
      );
    }
    getModel(baseOf(model));
    return model.includes('status-500') ? new ProviderFault(500, 'The server had an error.') : null;
  } catch (error) {
    if (error instanceof ProviderFault) return error;
    throw error;
  }
}

function refuse(socket: Duplex, { status, message }: ProviderFault): void {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', code: null, param: null } });
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
