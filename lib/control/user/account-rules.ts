/** What this gateway lets people do by themselves (contract: control-plane/sign-up). */
export interface AccountRules {
  /** Whether strangers may make an account and a workspace. */
  readonly signUp: boolean;
  /** What such a workspace is given, nano-dollars. */
  readonly creditNano: bigint;
  /** Whether an address has to be verified before the credit is given and anything is changed. */
  readonly verification: boolean;
}

/** Of a process that nobody signs up in, such as the command line. */
export const noSignUp: AccountRules = { signUp: false, creditNano: 0n, verification: true };

/** By the settings of this process: verification is not required on the embedded database, which is one person's. */
export function accountsOf(settings: {
  readonly allowSignUp: boolean;
  readonly signUpCreditNano: bigint;
  /** null: embedded. */
  readonly databaseUrl: string | null;
}): AccountRules {
  return {
    signUp: settings.allowSignUp,
    creditNano: settings.signUpCreditNano,
    verification: settings.databaseUrl !== null,
  };
}
