const accepted = /^[a-zA-Z0-9_-]+$/;
const prefix = 'toolu_mgt1_';

/** A provider's id of a tool call as the messages protocol accepts it; one that it does not accept is encoded. */
export function toClientId(id: string): string {
  return accepted.test(id) ? id : prefix + Buffer.from(id).toString('base64url');
}

/** The provider's id again. */
export function fromClientId(id: string): string {
  return id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), 'base64url').toString() : id;
}
