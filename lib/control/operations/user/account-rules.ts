/** What users of this gateway may do by themselves (contract: control-plane/sign-up). */
export interface AccountRules {
  /** Whether anyone may create an account and a workspace. */
  readonly signUp: boolean;
  /** Credit for such a workspace, nano-dollars. */
  readonly creditNano: bigint;
  /** Days until the rest of the credit expires; null: never. */
  readonly creditDays: number | null;
  /** Whether an address must be verified before the user gets the credit and can change anything. */
  readonly verification: boolean;
}

/** For processes without sign-up, such as the command line. */
export const noSignUp: AccountRules = { signUp: false, creditNano: 0n, creditDays: null, verification: true };

/** From the settings of this process: no verification on the embedded database, which is used by one person. */
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
