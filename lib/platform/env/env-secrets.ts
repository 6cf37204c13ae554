import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeDataDirectory } from '#lib/platform/files/data-directory';

export const secretNames = ['NEXTAUTH_SECRET', 'ENCRYPTION_KEY', 'KEY_PEPPER'] as const;

/** The fewest characters of a secret (contract: operations/secrets). */
export const leastSecret = 32;

const secretsSchema = z.object({
  NEXTAUTH_SECRET: z.string().min(1),
  ENCRYPTION_KEY: z.string().min(1),
  KEY_PEPPER: z.string().min(1),
});

export type SecretName = (typeof secretNames)[number];

/** The secrets that sign sessions, seal stored credentials and pepper key hashes. */
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * The secrets of an embedded installation, `DATA_DIR/secrets.json` (0600), created on first use.
 * @throws OperatorError for DATA_DIR; Error if the file exists but is unreadable: new secrets would make every key and
 * session invalid.
 */
export function readOrMakeSecrets(dataDir: string): Secrets {
  const file = join(dataDir, 'secrets.json');
  makeDataDirectory(dataDir);
  const known = findSecrets(file);
  if (known) return known;
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const made = Object.fromEntries(secretNames.map((name) => [name, randomBytes(32).toString('hex')]));
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true });
  try {
    // A link is made whole or not at all, and never over another process's file.
    linkSync(draft, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return findSecrets(file) ?? secretsSchema.parse(made);
}

function findSecrets(file: string): Secrets | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return secretsSchema.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `${file} is damaged. Restore it from a backup: without it, no stored key or session is valid.`,
    );
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * ENCRYPTION_KEY as 64 hex digits: 32 bytes in hex or base64 are used as they are, any other string is hashed to that
 * length.
 */
export function encryptionKeyOf(text: string): string {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase();
  const bytes = Buffer.from(text, 'base64');
  const isBase64 = bytes.length === 32 && /^[A-Za-z0-9+/_-]+=*$/.test(text);
  return isBase64 ? bytes.toString('hex') : createHash('sha256').update(text).digest('hex');
}
