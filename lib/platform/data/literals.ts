import { escapeLiteral } from 'pg';

/**
 * Several statements in one simple query are one round trip, and each sees what was committed before
 * it: the sums are read after the row locks were won. Simple queries take no parameters, so every value
 * goes in as an escaped literal.
 */
export const text = (value: string): string => escapeLiteral(value);
export const uuid = (value: string): string => `${escapeLiteral(value)}::uuid`;
export const nano = (value: bigint): string => `${value}::bigint`;
export const moment = (atMs: number): string => `${escapeLiteral(new Date(atMs).toISOString())}::timestamptz`;
