import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CloudKey } from '#lib/core/facts/cloud-key';
import { memberOf, parseJson } from '#lib/core/families/reading/json';

/** Variables with secrets of the machine's own identity. */
const variables = [
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AZURE_CLIENT_SECRET',
  'IDENTITY_HEADER',
];
/** Variables that name a file which has nothing but a token. */
const tokenFiles = [
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
];
const secretNames = /secret|private|token$/i;
/** A setting of a file of profiles of AWS. */
const profileSecret = /^\s*(?:aws_secret_access_key|aws_session_token)\s*=\s*(\S+)/gim;
const mostBytes = 64 * 1024;
const mostFiles = 50;

/**
 * What libraries read by themselves and send to issuers, which may repeat it: secrets in variables, tokens in the files
 * that variables or a credential name, profiles and sign-ins of AWS. Read when it is needed, because tokens in files are
 * replaced all the time. A file that cannot be read has none. Never rejects.
 * @param variable the value of an environment variable; null: unset.
 */
export async function machineSecrets(
  { key }: CloudKey,
  variable: (name: string) => string | null,
): Promise<string[]> {
  const home = variable('HOME') ?? homedir();
  const google = await jsonIn(variable('GOOGLE_APPLICATION_CREDENTIALS'));
  const files = await Promise.all(
    [
      ...tokenFiles.map(variable),
      sourceOf(key),
      sourceOf(google),
      ...(await filesIn(join(home, '.aws/sso/cache'))),
    ].map(tokensIn),
  );
  const profiles = await Promise.all(
    [
      variable('AWS_SHARED_CREDENTIALS_FILE') ?? join(home, '.aws/credentials'),
      variable('AWS_CONFIG_FILE') ?? join(home, '.aws/config'),
    ].map(textIn),
  );
  return [
    ...variables.flatMap((name) => variable(name) ?? []),
    ...files.flat(),
    ...stringsIn(google, (name) => secretNames.test(name)),
    ...profiles.flatMap((text) => [...text.matchAll(profileSecret)].map(([, secret = '']) => secret)),
  ].filter((secret) => secret !== '');
}

/** The file of the token that a workload identity of Google exchanges. */
function sourceOf(key: unknown): string | null {
  const source = memberOf(key, 'credential_source');
  const file = memberOf(source, 'file');
  return typeof file === 'string' ? file : null;
}

/** A file has a token, or JSON with tokens under any names. */
async function tokensIn(path: string | null): Promise<string[]> {
  const text = (await textIn(path)).trim();
  return [text, ...stringsIn(parseJson(text), () => true)];
}

async function jsonIn(path: string | null): Promise<unknown> {
  return parseJson(await textIn(path));
}

async function textIn(path: string | null): Promise<string> {
  if (path === null || path === '') return '';
  try {
    // A pipe or a device would not end.
    const file = await stat(path);
    return file.isFile() && file.size <= mostBytes ? await readFile(path, 'utf8') : '';
  } catch {
    return '';
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith('.json'))
    .slice(0, mostFiles)
    .map((name) => join(folder, name));
}

/** The text of members of an object with such names. */
function stringsIn(value: unknown, wanted: (name: string) => boolean): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' && wanted(name) ? [member] : [],
  );
}
