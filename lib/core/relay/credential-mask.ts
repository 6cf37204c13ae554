/**
 * Shorter credentials, bytes, are not masked, because they could occur in ordinary text
 * (contract: request/masked-credential).
 */
const SHORTEST = 16;
const STAR = 0x2a;
const nothing = Buffer.alloc(0);

/**
 * @param credential as it was sent; it is also found JSON-escaped, percent-encoded and inside base64.
 * @returns null for a credential of under 16 bytes.
 */
export function createCredentialMask(credential: string): CredentialMask | null {
  return Buffer.byteLength(credential) < SHORTEST ? null : new CredentialMask(formsOf(credential));
}

/** The same for a text, such as a header's value. */
export function maskCredential(text: string, credential: string): string {
  if (credential.length < SHORTEST || !text.includes(credential)) return text;
  return text.replaceAll(credential, '*'.repeat(credential.length));
}

/** Overwrites a credential in a stream of bytes with asterisks of the same number; all other bytes stay. */
class CredentialMask {
  readonly #forms: readonly Buffer[];
  #held: Buffer = nothing;

  constructor(forms: readonly Buffer[]) {
    this.#forms = forms;
  }

  /** @returns the bytes that can be passed on: all but a tail that may be the start of the credential. */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    // A copy, because the chunk may still be read elsewhere.
    const bytes = Buffer.concat([this.#held, chunk]);
    this.#overwrite(bytes);
    const cut = this.#possibleStart(bytes);
    this.#held = bytes.subarray(cut);
    return cut === 0 ? [] : [bytes.subarray(0, cut)];
  }

  /** The tail that was held back; called at the end of the stream. */
  flush(): readonly Uint8Array[] {
    const held = this.#held;
    this.#held = nothing;
    return held.length === 0 ? [] : [held];
  }

  #overwrite(bytes: Buffer): void {
    for (const form of this.#forms) {
      for (let at = bytes.indexOf(form); at >= 0; at = bytes.indexOf(form, at + form.length)) {
        bytes.fill(STAR, at, at + form.length);
      }
    }
  }

  /** Where the end of the bytes may be the beginning of a form that the next chunk completes. */
  #possibleStart(bytes: Buffer): number {
    let earliest = bytes.length;
    for (const form of this.#forms) {
      for (let at = Math.max(0, bytes.length - form.length + 1); at < earliest; at += 1) {
        if (form.subarray(0, bytes.length - at).equals(bytes.subarray(at))) earliest = at;
      }
    }
    return earliest;
  }
}

/** The forms in which a provider may echo the credential. */
function formsOf(credential: string): readonly Buffer[] {
  const json = JSON.stringify(credential).slice(1, -1);
  const forms = [credential, json, json.replaceAll('/', '\\/'), encodeURIComponent(credential)];
  // Inside a longer base64 text it starts at any of the three positions of a group.
  for (const before of [0, 1, 2]) forms.push(...base64Forms(Buffer.from(credential), before));
  return [...new Set(forms)].map((form) => Buffer.from(form));
}

/** The characters that depend only on the credential, in both alphabets. */
function base64Forms(credential: Buffer, before: number): readonly string[] {
  const padded = Buffer.concat([Buffer.alloc(before), credential]);
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor((padded.length * 8) / 6);
  return [padded.toString('base64').slice(first, last), padded.toString('base64url').slice(first, last)];
}
