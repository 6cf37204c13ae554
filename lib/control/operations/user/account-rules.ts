/** What this gateway lets people do by themselves (contract: control-plane/sign-up). */
export interface AccountRules {
  /** Whether strangers may make an account and a workspace. */
  readonly signUp: boolean;
  /** What such a workspace is given, nano-dollars. */
  readonly creditNano: bigint;
  /** When what is left of it expires, days after it was given; null: never. */
  readonly creditDays: number | null;
  /** Whether an address has to be verified before the credit is given and anything is changed. */
  readonly verification: boolean;
}

/** Of a process that nobody signs up in, such as the command line. */
export const noSignUp: AccountRules = { signUp: false, creditNano: 0n, creditDays: null, verification: true };

/** By the settings of this process: verification is not required on the embedded database, which is one person's. */
export function accountsOf(settings: {
  readonly allowSignUp: boolean;
  readonly signUpCreditNano: bigint;
  readonly signUpCreditDays: number | null;
  /** null: embedded. */
  readonly databaseUrl: string | null;
}): AccountRules {
  return {
    signUp: settings.allowSignUp,
    creditNano: settings.signUpCreditNano,
    creditDays: settings.signUpCreditDays,
    verification: settings.databaseUrl !== null,
  };
}
