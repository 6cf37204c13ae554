import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { standInFor } from '#lib/control/billing/payments/stand-in';
import { EnvError, envSecret, findHostEnv, publicUrl, readEnv } from '#lib/platform/env/env';

const secrets = { NEXTAUTH_SECRET: 'a', ENCRYPTION_KEY: 'b', KEY_PEPPER: 'c' };
const server = { ...secrets, DATABASE_URL: 'postgresql://user@db.example/gateway' };
const temporary = () => mkdtempSync(join(tmpdir(), 'gateway-env-'));

function problems(source: Record<string, string>): readonly string[] {
  try {
    readEnv(source);
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings (contract: operations/settings)', () => {
  it('need nothing on the embedded database', () => {
    const dataDir = temporary();
    const env = readEnv({ DATA_DIR: dataDir });
    expect(env).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      dataDir,
      databaseUrl: null,
      redis: null,
      workers: 1,
      lane: 'node',
      console: true,
      settlement: null,
      sandbox: true,
      maxBodyBytes: 33_554_432,
      maxUploadBytes: 268_435_456,
      bodyBudgetBytes: 268_435_456,
      callRetentionDays: 90,
      allowSignUp: true,
      playMoney: true,
    });
    expect(publicUrl(env, env.port)).toBe('http://localhost:3000');
  });

  it('name proxies in capitals or, which is preferred, in lower case', () => {
    const proxies = (source: Record<string, string>) => readEnv({ ...server, ...source }).proxies;
    expect(proxies({ NO_PROXY: '*' })).toBeNull();
    expect(proxies({ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a,b' })).toEqual({
      https: 'http://p:1',
      http: null,
      none: 'a,b',
    });
    expect(
      proxies({ HTTPS_PROXY: 'http://p:1', https_proxy: 'proxy:3128', http_proxy: 'https://q' }),
    ).toEqual({
      https: 'http://proxy:3128',
      http: 'https://q',
      none: '',
    });
    expect(problems({ ...server, HTTPS_PROXY: 'socks5://p:1' })).toEqual([
      'HTTPS_PROXY: not the address of a proxy. Set one like http://proxy.internal:3128',
    ]);
  });

  it('listen everywhere and leave the sandbox off beside a PostgreSQL server', () => {
    const env = { host: '0.0.0.0', sandbox: false, keyPepper: 'c', allowSignUp: false, signUpCreditNano: 0n };
    expect(readEnv(server)).toMatchObject(env);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.3.2.1', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.7', false],
    ['127.0.0.1.example.com', false],
    ['gateway.example.com', false],
  ])('let strangers sign up and pay with play money on HOST=%s: %s, unless they say so', (HOST, alone) => {
    const source = { DATA_DIR: temporary(), HOST };
    expect(readEnv(source)).toMatchObject({
      host: HOST,
      sandbox: true,
      allowSignUp: alone,
      playMoney: alone,
    });
    const said = { ...source, ALLOW_SIGN_UP: 'on', PLAY_MONEY: 'on' };
    expect(readEnv(said)).toMatchObject({ allowSignUp: true, playMoney: true });
    expect(standInFor({ ...readEnv(source), dataDir: temporary() }) !== null).toBe(alone);
    expect(standInFor({ ...readEnv(said), dataDir: temporary() })).not.toBeNull();
  });

  it('keep the data in .data when no directory is set', () => {
    expect(readEnv(server).dataDir).toBe(resolve('.data'));
  });

  it('count an empty value as unset', () => {
    expect(readEnv({ ...server, HOST: '', PORT: ' ', REDIS_URL: '' })).toMatchObject({
      host: '0.0.0.0',
      port: 3000,
      redis: null,
    });
  });

  it('may switch what is on by default off', () => {
    expect(readEnv({ DATA_DIR: temporary(), SANDBOX: 'off', ALLOW_SIGN_UP: 'False' })).toMatchObject({
      sandbox: false,
      allowSignUp: false,
    });
  });

  it('name other ways to sign in, mail and what a new workspace is given', () => {
    const set = {
      GITHUB_ID: 'i',
      GITHUB_SECRET: 's',
      GITHUB_URL: 'https://git.example/',
      SIGN_UP_CREDIT_USD: '2.5',
      SIGN_UP_CREDIT_DAYS: '30',
    };
    expect(readEnv({ ...server, ...set, GOOGLE_ID: 'i', GOOGLE_SECRET: 's' })).toMatchObject({
      github: { id: 'i', secret: 's', url: 'https://git.example' },
      google: { issuer: 'https://accounts.google.com' },
      signUpCreditNano: 2_500_000_000n,
      signUpCreditDays: 30,
    });
  });

  it('list the origins whose pages may call', () => {
    const listed = 'https://app.example.com, http://localhost:5173,tauri://localhost';
    expect(readEnv({ ...server, CORS_ORIGINS: listed }).corsOrigins).toEqual([
      'https://app.example.com',
      'http://localhost:5173',
      'tauri://localhost',
    ]);
    expect(readEnv(server).corsOrigins).toEqual([]);
    const wrong = [
      '*',
      'null',
      'app.example.com',
      'https://app.example.com/',
      'https://APP.example.com',
      'https://a:443',
    ];
    for (const origin of wrong) {
      expect(problems({ ...server, CORS_ORIGINS: `https://b,${origin}` }), origin).toEqual([
        expect.stringMatching(/^CORS_ORIGINS: not a list of origins\. Set schemes and hosts/),
      ]);
    }
  });

  it.each([
    ['?sslmode=require', '?sslmode=verify-full'],
    [
      '?application_name=x&sslmode=prefer&sslrootcert=ca.pem',
      '?application_name=x&sslmode=verify-full&sslrootcert=ca.pem',
    ],
    ['?sslmode=verify-ca', '?sslmode=verify-full'],
    ['?sslmode=no-verify', '?sslmode=no-verify'],
    ['?sslmode=disable', '?sslmode=disable'],
    ['?uselibpqcompat=true&sslmode=require', '?uselibpqcompat=true&sslmode=require'],
  ])('say of the TLS of the database what the driver does: %s', (given, read) => {
    const DATABASE_URL = 'postgresql://user@db.example/gateway';
    expect(readEnv({ ...server, DATABASE_URL: DATABASE_URL + given }).databaseUrl).toBe(DATABASE_URL + read);
  });

  it('take Redis by its own protocol or by REST', () => {
    expect(readEnv({ ...server, REDIS_URL: 'redis://r:6379' }).redis).toEqual({
      kind: 'tcp',
      url: 'redis://r:6379',
    });
    const rest = { UPSTASH_REDIS_REST_URL: 'https://r', UPSTASH_REDIS_REST_TOKEN: 't' };
    expect(readEnv({ ...server, ...rest }).redis).toEqual({ kind: 'rest', url: 'https://r', token: 't' });
  });
});

describe('the public address', () => {
  it('is NEXTAUTH_URL without its last slash', () => {
    const env = readEnv({ ...server, NEXTAUTH_URL: 'https://gateway.example/' });
    expect(publicUrl(env, 3000)).toBe('https://gateway.example');
  });

  it.each(['https://gateway.example/gw', 'https://gateway.example/?a=b', 'https://gateway.example/api/auth'])(
    'has no path: %s',
    (NEXTAUTH_URL) => {
      expect(problems({ ...server, NEXTAUTH_URL })).toEqual([
        'NEXTAUTH_URL: has a path. Set only the scheme and the host, like https://gateway.example.com: base paths are not supported.',
      ]);
    },
  );

  it('is otherwise made of the host and of the port in use', () => {
    expect(publicUrl({ nextAuthUrl: null, host: '0.0.0.0' }, 8080)).toBe('http://localhost:8080');
    expect(publicUrl({ nextAuthUrl: null, host: '10.0.0.7' }, 80)).toBe('http://10.0.0.7:80');
    expect(publicUrl({ nextAuthUrl: null, host: 'fd00::7' }, 80)).toBe('http://[fd00::7]:80');
  });
});

describe('generated secrets (contract: operations/secrets)', () => {
  it('stay the same from start to start and are readable only by their owner', () => {
    const dataDir = temporary();
    const first = readEnv({ DATA_DIR: dataDir });
    const second = readEnv({ DATA_DIR: dataDir });
    expect(second).toEqual(first);
    expect(new Set([first.nextAuthSecret, first.encryptionKey, first.keyPepper]).size).toBe(3);
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('give way to a secret that is set', () => {
    const dataDir = temporary();
    expect(readEnv({ DATA_DIR: dataDir, KEY_PEPPER: 'mine' }).keyPepper).toBe('mine');
    expect(readEnv({ DATA_DIR: dataDir }).keyPepper).not.toBe('mine');
  });

  it('are never made again over a damaged file', () => {
    const dataDir = temporary();
    writeFileSync(join(dataDir, 'secrets.json'), '{"KEY_PEPPER":');
    expect(() => readEnv({ DATA_DIR: dataDir })).toThrow(/is damaged\. Restore it/);
    expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toBe('{"KEY_PEPPER":');
  });

  it('make an encryption key of 32 bytes out of hex, base64 or any text', () => {
    const key = (text: string) => readEnv({ ...server, ENCRYPTION_KEY: text }).encryptionKey;
    const bytes = Buffer.alloc(32, 7);
    expect(key(bytes.toString('hex'))).toBe(bytes.toString('hex'));
    expect(key(bytes.toString('base64'))).toBe(bytes.toString('hex'));
    expect(key('correct horse')).toMatch(/^[0-9a-f]{64}$/);
    const old = readEnv({ ...server, ENCRYPTION_KEY_OLD: `${bytes.toString('hex')}, correct horse,` });
    expect(old.oldEncryptionKeys).toEqual([bytes.toString('hex'), key('correct horse')]);
  });

  it('are checked for their length: 32 characters are enough', () => {
    const set = { NEXTAUTH_SECRET: 'n'.repeat(31), ENCRYPTION_KEY: 'e'.repeat(32), KEY_PEPPER: 'p' };
    expect(readEnv({ ...server, ...set }).shortSecrets).toEqual(['NEXTAUTH_SECRET', 'KEY_PEPPER']);
    expect(readEnv({ DATA_DIR: temporary() }).shortSecrets).toEqual([]);
  });
});

describe('a setting in a file (contract: operations/setting-files)', () => {
  const file = (content: string) => {
    const path = join(temporary(), 'value');
    writeFileSync(path, content);
    return path;
  };

  it('is read without the end of its line, a secret and the address of the database too', () => {
    const { KEY_PEPPER, ...others } = secrets;
    const inFiles = {
      DATABASE_URL_FILE: file(`${server.DATABASE_URL}\n`),
      KEY_PEPPER_FILE: file(`${'p'.repeat(40)}\r\n`),
      PORT_FILE: file('4000\n'),
    };
    const wanted = { databaseUrl: server.DATABASE_URL, keyPepper: 'p'.repeat(40), port: 4000 };
    expect(readEnv({ ...others, ...inFiles })).toMatchObject(wanted);
    expect(findHostEnv({ ...others, ...inFiles })).toMatchObject(wanted);
  });

  it('is checked like any other', () => {
    expect(problems({ ...server, PORT_FILE: file('70000') })).toEqual([expect.stringMatching(/^PORT: /)]);
  });

  it('is refused beside the setting itself, and where it cannot be read, by name and path', () => {
    const path = file('secret-content');
    expect(problems({ ...server, KEY_PEPPER_FILE: path })).toEqual([
      'KEY_PEPPER: set this or KEY_PEPPER_FILE, not both.',
    ]);
    const folder = temporary();
    expect(problems({ ...server, METRICS_TOKEN_FILE: `${folder}/none`, SMTP_URL_FILE: folder })).toEqual([
      `SMTP_URL_FILE: ${folder} cannot be read (EISDIR). Make it readable by this process, or set SMTP_URL instead.`,
      `METRICS_TOKEN_FILE: ${folder}/none cannot be read (ENOENT). Make it readable by this process, or set METRICS_TOKEN instead.`,
    ]);
  });

  it('may be a credential that the catalogue names', () => {
    process.env.FILED_PROVIDER_KEY_FILE = file('sk-2\n');
    expect(envSecret('FILED_PROVIDER_KEY')).toBe('sk-2');
    process.env.FILED_PROVIDER_KEY_FILE = '/dev/null/none';
    expect(() => envSecret('FILED_PROVIDER_KEY')).toThrow(
      /FILED_PROVIDER_KEY_FILE: \/dev\/null\/none cannot/,
    );
    delete process.env.FILED_PROVIDER_KEY_FILE;
    expect(envSecret('KEY_PEPPER_FILE')).toBeNull();
  });
});

describe('a wrong setting stops the start', () => {
  it('naming each secret that a PostgreSQL server needs', () => {
    const names = problems({ DATABASE_URL: server.DATABASE_URL }).map((line) => line.split(':')[0]);
    expect(names).toEqual(['NEXTAUTH_SECRET', 'ENCRYPTION_KEY', 'KEY_PEPPER']);
  });

  it.each([
    [{ PORT: '70000' }, /^PORT: .*from 0 to 65535/],
    [{ PORT: '3e3' }, /^PORT: /],
    [{ DATABASE_URL: 'mysql://db' }, /^DATABASE_URL: .*postgresql:\/\//],
    [{ LANE: 'fast' }, /^LANE: .*node, web/],
    [{ LANE: 'web', CONSOLE: 'off' }, /^CONSOLE: .*LANE=web/],
    [{ SANDBOX: 'maybe' }, /^SANDBOX: .*on or off/],
    [{ WORKERS: '0' }, /^WORKERS: /],
    [{ SHUTDOWN_DELAY_SECONDS: '601' }, /^SHUTDOWN_DELAY_SECONDS: .*from 0 to 600/],
    [{ DATABASE_AWAY_MINUTES: '16' }, /^DATABASE_AWAY_MINUTES: .*from 0 to 15/],
    [{ DATABASE_AWAY_MINUTES: '10' }, /^DATABASE_AWAY_USD: required with DATABASE_AWAY_MINUTES/],
    [
      { DATABASE_AWAY_MINUTES: '10', DATABASE_AWAY_USD: '100', SETTLEMENT: 'database' },
      /^DATABASE_AWAY_MINUTES: requires the journal/,
    ],
    [{ MAX_BODY_BYTES: '-1' }, /^MAX_BODY_BYTES: /],
    [{ CALL_RETENTION_DAYS: '34' }, /^CALL_RETENTION_DAYS: .*from 35 to 36500/],
    [{ SIGN_UP_CREDIT_USD: '-5' }, /^SIGN_UP_CREDIT_USD: .*from 0 to 1000000/],
    [{ SIGN_UP_CREDIT_USD: '1000000.01' }, /^SIGN_UP_CREDIT_USD: /],
    [{ SIGN_UP_CREDIT_DAYS: '0' }, /^SIGN_UP_CREDIT_DAYS: .*from 1 to 3650/],
    [{ SMTP_URL: 'mail.example' }, /^SMTP_URL: .*smtp:\/\//],
    [{ GITHUB_ID: 'x' }, /^GITHUB_SECRET: required with GITHUB_ID/],
    [{ UPSTASH_REDIS_REST_TOKEN: 'x' }, /^UPSTASH_REDIS_REST_URL: required/],
    [{ PLAY_MONEY: 'on' }, /^PLAY_MONEY: .*embedded database/],
    [{ STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_API_BASE: 'http://localhost:1' }, /^STRIPE_API_BASE: /],
  ])('and says what to set: %o', (change, line) => {
    expect(problems({ ...server, ...change })).toEqual([expect.stringMatching(line)]);
  });

  it('and settlement by the database needs PostgreSQL: the embedded one is lost with its disk', () => {
    expect(problems({ SETTLEMENT: 'database' }).join()).toMatch(/SETTLEMENT.*DATABASE_URL/);
    expect(readEnv({ ...server, SETTLEMENT: 'database' }).settlement).toBe('database');
  });

  it('and a DATA_DIR that cannot be written is named, with what to do', () => {
    const file = join(temporary(), 'file');
    writeFileSync(file, '');
    expect(() => readEnv({ DATA_DIR: file })).toThrow(
      `DATA_DIR: ${file} is not a directory. Set another DATA_DIR.`,
    );
    expect(() => readEnv({ DATA_DIR: '/dev/null/x' })).toThrow(/^DATA_DIR: .*Set another DATA_DIR/);
  });
});

describe("a host's own Next", () => {
  it('has no resolver without an address of the database and a pepper', () => {
    expect(findHostEnv({})).toBeNull();
    expect(findHostEnv({ DATABASE_URL: server.DATABASE_URL })).toBeNull();
    expect(findHostEnv(server)?.databaseUrl).toBe(server.DATABASE_URL);
  });
});

describe('what the catalogue reads from the environment', () => {
  it('is a value by name, and never one of our own secrets', () => {
    process.env.TEST_PROVIDER_KEY = ' sk-1 ';
    process.env.KEY_PEPPER ??= 'pepper';
    expect(envSecret('TEST_PROVIDER_KEY')).toBe('sk-1');
    expect(envSecret('TEST_PROVIDER_KEY_NOT_SET')).toBeNull();
    expect(envSecret('KEY_PEPPER')).toBeNull();
  });
});
