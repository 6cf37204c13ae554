import type { Told } from '#tests/support/fleet/client';
import type { SandboxProcess } from '#tests/support/provider/process';

/** One call whose gateway is to be killed at a named point. Each promise resolves when the point is reached. */
export interface Moment {
  /** A text that its body holds and no other's. */
  readonly mark: string;
  readonly sandbox: SandboxProcess;
  /** The answer's head is at the client. */
  readonly head: Promise<unknown>;
  /** Some pieces of its body are. */
  readonly middle: Promise<unknown>;
  readonly told: Promise<Told>;
  /** The gateway sends its database a statement that holds this text, from now on. */
  sends(text: string): Promise<void>;
  /** The row of its call, or of its job's charge, is in the database. */
  posted(): Promise<unknown>;
}

const rowOfCalls = 'INSERT INTO call';

/**
 * Where a gateway is killed, in the order in which a call passes. The last two need a database that its test
 * stands before.
 */
export const points: Readonly<Record<string, (moment: Moment) => Promise<unknown>>> = {
  'request sent': () => new Promise(setImmediate),
  'provider asked': ({ sandbox, mark }) => sandbox.begun(mark),
  'head relayed': ({ head }) => head,
  'body half relayed': ({ middle }) => middle,
  'provider done': async ({ sandbox, mark }) => sandbox.ended((await sandbox.begun(mark)).id),
  'body relayed': ({ told }) => told,
  'row posted': async ({ told, posted }) => {
    await told;
    await posted();
  },
  'settlement sent': async ({ told, sends }) => {
    await told;
    await sends(rowOfCalls);
  },
  'commit sent': async ({ told, sends }) => {
    await told;
    await sends(rowOfCalls);
    await sends('COMMIT');
  },
};

/** Those of the embedded database: nobody sees what the gateway sends it. */
export const pointsWithoutDatabase = Object.keys(points).filter(
  (name) => !/^(settlement|commit) /.test(name),
);
