import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** This process no longer trusts it. */
  forget(): void;
}

/** A certificate for names, which this process trusts until it is forgotten. */
export function trustCertificate(names: readonly string[]): Certificate {
  const trusted = getCACertificates('default');
  const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const subject = [
    '-subj',
    `/CN=${names[0]}`,
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`,
  ];
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  });
  const made = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  rmSync(directory, { recursive: true });
  setDefaultCACertificates([...trusted, made.cert.toString()]);
  return { ...made, forget: () => setDefaultCACertificates(trusted) };
}
