import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createUploadTickets } from '#lib/gateway/flow/upload/ticket';

describe('the address of an upload (contract: batches/upload-address)', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const ticket = {
    secret: 'a secret key',
    workspaceId: 'w',
    callId: 'c',
    providerId: 'p',
    credential: 'default',
    path: '/upload/v1beta/files?upload_id=1',
    bytes: 9,
  };
  const hourMs = 3_600_000;
  const sealed = createUploadTickets(key).seal(ticket, 0);

  it('means the same to every process with the same key, and shows nothing of what it means', () => {
    expect(createUploadTickets([other, key]).open(sealed, 0)).toMatchObject(ticket);
    expect(sealed).toMatch(/^[\w.-]+$/);
    expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain(ticket.secret);
  });

  it('is valid for an hour', () => {
    const { open } = createUploadTickets(key);
    expect(open(sealed, hourMs - 1)).not.toBeNull();
    expect(open(sealed, hourMs)).toBeNull();
  });

  it.each(['', 's1.', 's1.AAAA', 'upload', `${sealed}x`, sealed.replace(/^s1\../, 's1._')])(
    'is none if it was made elsewhere or altered: %s',
    (text) => {
      expect(createUploadTickets(key).open(text, 0)).toBeNull();
      expect(createUploadTickets(other).open(sealed, 0)).toBeNull();
    },
  );
});
