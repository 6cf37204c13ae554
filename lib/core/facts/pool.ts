/** The credential that the catalogue's files name, and the only one of a provider that never got another. */
export const defaultCredential = 'default';

/** What a credential of an operator may be called. */
export const credentialName = /^[a-z0-9][a-z0-9._-]{0,39}$/;
/** Credentials of a provider, withdrawn ones included. */
export const mostCredentials = 100;
/** Bounds of a credential's share of the calls, and of its rank. */
export const weights = { min: 1, max: 1000 } as const;
export const priorities = { min: 1, max: 100 } as const;
