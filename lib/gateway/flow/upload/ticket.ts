import type { Keeper } from '#lib/core/facts/credential';
import { open, type SealingKey, seal } from '#lib/platform/sealing';

/** How long the parts of an upload may take; the room of its file is held as long (contract: batches/room). */
const VALID_MS = 3_600_000;
const context = 'upload-ticket';

/**
 * What the address of an upload stands for (contract: batches/upload-address). It is sealed in the address, so that
 * every process can take every part, and nothing is stored.
 */
export interface UploadTicket extends Keeper {
  /** The API key that began the upload, because some SDKs send none with the parts. */
  readonly secret: string;
  readonly workspaceId: string;
  /** The call that began it. */
  readonly callId: string;
  /** Where the provider takes the parts: path and query after the origin of its address. */
  readonly path: string;
  /** Size of the whole file. */
  readonly bytes: number;
  readonly untilMs: number;
}

/** Makes and reads the addresses of uploads. */
export interface UploadTickets {
  seal(ticket: Omit<UploadTicket, 'untilMs'>, nowMs: number): string;
  /** null: it is none, is over, or was sealed by another gateway. */
  open(text: string, nowMs: number): UploadTicket | null;
}

/** @param key ENCRYPTION_KEY, then those that only open. */
export function createUploadTickets(key: SealingKey): UploadTickets {
  return {
    seal: (ticket, nowMs) => seal(JSON.stringify({ ...ticket, untilMs: nowMs + VALID_MS }), key, context),
    open: (text, nowMs) => {
      let ticket: UploadTicket;
      try {
        ticket = JSON.parse(open(text, key, context));
      } catch {
        return null;
      }
      return ticket.untilMs > nowMs ? ticket : null;
    },
  };
}
