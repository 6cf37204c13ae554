/** Shorter credentials are overwritten nowhere: they would be found in ordinary text (decisions §3). */
const SHORTEST = 16;
const STAR = 0x2a;
const nothing = Buffer.alloc(0);

/** Overwrites a credential in bytes that come piece by piece; their number and all others stay the same. */
export interface CredentialMask {
  /** @returns what can go on now: all but an end that may be the beginning of the credential. */
  push(chunk: Uint8Array): Uint8Array;
  /** The bytes are over: what was held back. */
  end(): Uint8Array;
}

/**
 * @param credential as it was sent; also found in JSON escapes, percent-encoded and inside base64.
 * @returns null for a credential of under 16 bytes.
 */
export function createCredentialMask(credential: string): CredentialMask | null {
  return Buffer.byteLength(credential) < SHORTEST ? null : new Mask(formsOf(credential));
}

/** The same for a short text, such as a header's value. */
export function maskCredential(text: string, credential: string): string {
  if (credential.length < SHORTEST || !text.includes(credential)) return text;
  return text.replaceAll(credential, '*'.repeat(credential.length));
}

class Mask implements CredentialMask {
  readonly #forms: readonly Buffer[];
  #held: Buffer = nothing;

  constructor(forms: readonly Buffer[]) {
    this.#forms = forms;
  }

  push(chunk: Uint8Array): Uint8Array {
    // A copy: what is overwritten may still be read elsewhere.
    const bytes = Buffer.concat([this.#held, chunk]);
    this.#overwrite(bytes);
    const cut = this.#possibleStart(bytes);
    this.#held = bytes.subarray(cut);
    return bytes.subarray(0, cut);
  }

  end(): Uint8Array {
    const held = this.#held;
    this.#held = nothing;
    return held;
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

/** How a provider may write the credential into a text. */
function formsOf(credential: string): readonly Buffer[] {
  const json = JSON.stringify(credential).slice(1, -1);
  const forms = [credential, json, json.replaceAll('/', '\\/'), encodeURIComponent(credential)];
  // Encoded with other text before it, it begins at any of three places of a base64 group.
  for (const before of [0, 1, 2]) forms.push(...base64Forms(Buffer.from(credential), before));
  return [...new Set(forms)].map((form) => Buffer.from(form));
}

/** The characters that the credential alone determines, in both alphabets. */
function base64Forms(credential: Buffer, before: number): readonly string[] {
  const padded = Buffer.concat([Buffer.alloc(before), credential]);
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor((padded.length * 8) / 6);
  return [padded.toString('base64').slice(first, last), padded.toString('base64url').slice(first, last)];
}
