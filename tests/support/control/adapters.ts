import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operationAction } from '#lib/console/operation';
import { createPace } from '#lib/control/management/pace';
import { serveManagement } from '#lib/control/management/serve';
import type { HttpBinding, Operation } from '#lib/control/operations/declare';
import { type Field, flagOf } from '#lib/control/operations/field/field';
import { operations } from '#lib/control/operations/operations';
import { ControlRefused } from '#lib/control/operations/refusal';
import type { ControlHost } from '#lib/control/operations/run';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';
import { commandsOf } from '#lib/programs/command/declared';
import { parse } from '#lib/programs/command/parse';
import { sealingKey, secretSettings } from '#tests/support/control/operate';
import { wordOf } from '#tests/support/control/sample';
import type { TestPayments } from '#tests/support/stripe/payments';

/** How an adapter answered, in terms that all of them share. */
export type Verdict =
  | 'no credential'
  | 'bad credential'
  | 'denied'
  | 'no workspace'
  | 'not found'
  | 'allowed'
  /** Because of the input or the current state, not because of who asked. */
  | 'refused'
  | 'fault';

type Input = Readonly<Record<string, unknown>>;

/** One answer of the management API. */
export interface ApiAnswer {
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly body: unknown;
}

/**
 * Sends requests to `/api/v1` in this process, at an operation's address; all fields that are not in its path
 * are sent along.
 */
export function apiOf(control: ControlHost) {
  const host = {
    control,
    pace: createPace(1_000_000),
    ids: createIds(systemClock),
    report: (error: unknown) => console.error(error),
  };
  return async (
    credential: string | null,
    { kind }: Operation,
    { method, path, body: whole }: HttpBinding,
    workspace: string,
    input: Input,
  ): Promise<ApiAnswer> => {
    const rest = new Map(Object.entries(input));
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = name === 'workspace' ? workspace : rest.get(name);
      rest.delete(name);
      return encodeURIComponent(typeof value === 'string' ? value.toWellFormed() : 'x');
    });
    const query = new URLSearchParams([...rest].map(([name, value]) => [name, wordOf(value)]));
    const answer = await serveManagement(host, {
      method,
      target: `/api/v1${target}${kind === 'read' && rest.size > 0 ? `?${query}` : ''}`,
      headers: credential === null ? {} : { authorization: `Bearer ${credential}` },
      address: '127.0.0.1',
      readBody: async () =>
        kind === 'read'
          ? ''
          : JSON.stringify(whole === undefined ? Object.fromEntries(rest) : rest.get(whole)),
    });
    const body = JSON.parse(answer.body) as { error?: ApiAnswer['error'] };
    return { status: answer.status, error: answer.status < 400 ? null : (body.error ?? null), body };
  };
}

export function verdictOfApi({ status, error }: ApiAnswer): Verdict {
  if (error === null) return 'allowed';
  if (status >= 500 && status !== 503) return 'fault';
  if (error.code === 'missing_platform_authorization') return 'no credential';
  if (error.code === 'invalid_api_key') return 'bad credential';
  if (error.code === 'permission_denied') return 'denied';
  if (error.code !== 'not_found') return 'refused';
  return error.message.includes('there is no workspace') ? 'no workspace' : 'not found';
}

/** Submits a form's action as the session's user. */
export async function verdictOfAction(
  operation: Operation,
  workspace: string,
  input: Input,
): Promise<Verdict> {
  const answer = await operationAction(operation)(workspace, input);
  if (answer.ok) return 'allowed';
  if (answer.signedOut) return 'no credential';
  if (/requires the role|only operators|is suspended|cannot create a key with the role/i.test(answer.message))
    return 'denied';
  if (answer.message.includes('no longer a member')) return 'no workspace';
  if (answer.message.startsWith('There is no')) return 'not found';
  return answer.message.startsWith('Something went wrong') ? 'fault' : 'refused';
}

const commands = commandsOf(operations);
const folder = mkdtempSync(join(tmpdir(), 'gateway-line-'));

/** A value as the command line takes it; for a document, the file that contains it. */
function argumentOf({ kind }: Field, value: unknown): string {
  if (kind !== 'document' && kind !== 'files') return wordOf(value);
  const path = join(folder, 'document.json');
  const [file] = kind === 'files' ? (value as { text: string }[]) : [];
  writeFileSync(path, file?.text ?? JSON.stringify(value));
  return path;
}

/** Runs the operation's command in this process, as the operator. */
export async function verdictOfLine(
  control: ControlHost & Partial<TestPayments>,
  operation: Operation,
  workspace: string,
  input: Input,
): Promise<Verdict> {
  const ordered = operation.line?.arguments ?? [];
  const wordFor = (name: string) => {
    const field = operation.fields[name];
    return name === 'workspace' || !field ? workspace : argumentOf(field, input[name]);
  };
  const named =
    (operation.reach === 'workspace' && !ordered.includes('workspace')) ||
    operation.line?.workspace === 'optional'
      ? ['--workspace', workspace]
      : [];
  const flags = Object.entries(operation.fields)
    .filter(([name]) => name in input && !ordered.includes(name))
    .flatMap(([name, field]) => [`--${flagOf(name, field)}`, argumentOf(field, input[name])]);
  const words = operation.line?.command?.split(' ') ?? operation.name.split('.');
  const argv = [...words, ...ordered.map(wordFor), ...named, ...flags];
  const parsed = parse(argv, commands);
  const context = {
    db: async () => control.db,
    env: () => ({
      ...secretSettings,
      keyPepper: control.keyPepper,
      dataDir: folder,
      ownKeys: 'on',
      ownKeyFeePoints: 500,
      stripe: control.paymentSettings ?? null,
      host: '127.0.0.1',
      port: 0,
      nextAuthUrl: 'http://console.test',
    }),
    announce: async () => {},
    catalogueSources: () => ({ envSecret: () => undefined, sealingKey }),
  };
  try {
    await parsed.command.run(context as never, parsed.input);
    return 'allowed';
  } catch (error) {
    if (error instanceof ControlRefused && error.code === 'permission_denied') return 'denied';
    const message = error instanceof Error ? error.message : String(error);
    if (message.includes('there is no workspace')) return 'no workspace';
    if (message.includes('there is no')) return 'not found';
    return error instanceof ControlRefused || (error instanceof Error && error.name === 'CommandRefused')
      ? 'refused'
      : 'fault';
  }
}
